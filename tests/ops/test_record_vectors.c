/* Records in memory that threads of a GPU load and store by words (plan/record_vector.c, codegen/cuda_records.c): all sizes of elements and of records, from and to any place, against formulas; and what is read one by one beside them. */
#include "ops/common.h"

#include "ops/against.h"

static runs all;

static const krf_dtype dtypes[] = {KRF_U8, KRF_I8, KRF_BOOL, KRF_I16, KRF_F16, KRF_BF16, KRF_I32, KRF_F32, KRF_F64};
enum { KINDS = sizeof dtypes / sizeof *dtypes, MOST_FIELDS = 8 };

static struct {
    int fields, n_read, read[MOST_FIELDS]; /* which are read, in which order */
    int64_t from;                 /* where records begin in x */
    int second;                   /* fields of other records */
    int64_t records, width, more; /* of images: lines, what is in one, and what is added */
} at;

static void read_all(int fields, int from, int step) {
    at.fields = at.n_read = fields;
    for (int i = 0; i < fields; i++) {
        at.read[i] = (from + i * step + 2 * fields) % fields;
    }
}

static int64_t field(int operand, int64_t record, int f) { return number(operand, at.from + record * at.fields + f); }

/* Steps of one in the field that a number is of tell fields apart. */
static int64_t sum_of_read(const int64_t *index) {
    int64_t sum = 0;
    for (int i = 0; i < at.n_read; i++) {
        sum += field(0, index[0], at.read[i]) * (i + 1);
    }
    return sum;
}

static int64_t any_of_read(const int64_t *index) {
    int64_t any = 0;
    for (int i = 0; i < at.n_read; i++) {
        any = i % 2 == 0 ? any ^ field(0, index[0], at.read[i]) : any & field(0, index[0], at.read[i]);
    }
    return any;
}

static int64_t put_in_order(const int64_t *index) { return field(0, index[0], at.read[index[1]]); }
static int64_t from_planes(const int64_t *index) { return number(0, at.read[index[1]] * at.records + index[0]); }
static int64_t planes_and_one(const int64_t *index) { return from_planes(index) + index[1]; }

static void write_sum(char *text, bool logical) {
    for (int i = 0; i < at.n_read; i++) {
        text += logical ? sprintf(text, i == 0 ? "x[:, %d]" : i % 2 == 0 ? " ^ x[:, %d])" : " & x[:, %d])", at.read[i]) : sprintf(text, "%sx[:, %d] * %d", i == 0 ? "" : " + ", at.read[i], i + 1);
    }
}

static void write_logical(char *text) {
    for (int i = 1; i < at.n_read; i++) {
        *text++ = '(';
    }
    write_sum(text, true);
}

/* "stack((x[:, 2], x[:, 0]), axis=-1)"; or of planes "x[2] + 0" */
static void write_stack(char *text, const char *each, bool counts) {
    text += sprintf(text, "stack((");
    for (int i = 0; i < at.n_read; i++) {
        text += sprintf(text, each, at.read[i]);
        text += counts ? sprintf(text, " + %d, ", i) : sprintf(text, ", ");
    }
    sprintf(text, "), axis=-1)");
}

/* Records of one operand that a thread has, were it alone: a word of three fields, or 16 bytes at most, of a power of two of them. */
static int alone_in(krf_dtype dtype, int fields) {
    const int n = fields == 3 ? 4 / (int)bytes_of(dtype) : 16 / (fields * (int)bytes_of(dtype));
    return n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : 1;
}

static check of(const run *r, krf_dtype dtype, const char *text) {
    check c = {.run = r, .text = text, .n_given = 1, .n_out = 1};
    c.given[0] = (given){.name = "x", .dtype = dtype, .rank = 2, .shape = {at.records, at.fields}, .values = dtype == KRF_BOOL ? 2 : 5};
    return c;
}

/* Whether a thread has several records of an operand that begins at the element, and whether these are whole words. */
static bool in_words(krf_dtype dtype, int fields, int64_t offset) {
    const int v = alone_in(dtype, fields), bytes = v * fields * (int)bytes_of(dtype), word = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
    return v > 1 && bytes % 4 == 0 && offset * (int)bytes_of(dtype) % word == 0;
}

static int64_t turn;

/* One length suffices for kernels to be known: the others have the same. The CPU, which this is not about, has a few. */
static bool has_turn(int64_t records, int dtype, int other) { return (!collecting || records == 257) && (all.cuda || (dtype + other) % 4 == 0); }

/* All fields are read, in some order, from arrays that begin anywhere; results in memory of their own, strided and not. */
static void test_loads(void **unused) {
    static const int64_t lengths[] = {257, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 70, 255, 256, 1023, 1024, 1025, 2049, 4097};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < KINDS && !passed_over(&all.run[r]); d++) {
            for (int fields = 2; fields <= MOST_FIELDS; fields++) {
                for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
                    char text[300];
                    at.records = lengths[n];
                    read_all(fields, fields - 1, fields == 3 ? 2 : fields - 1);
                    (dtypes[d] == KRF_BOOL ? write_logical(text) : write_sum(text, false));
                    check c = of(&all.run[r], dtypes[d], text);
                    c.out[0] = (wanted){dtypes[d], 1, {at.records}, dtypes[d] == KRF_BOOL ? any_of_read : sum_of_read};
                    c.given[0].offset = n % 3 == 0 ? 0 : (int64_t)n % 7 * (n % 3 == 1 ? 16 / (int)bytes_of(dtypes[d]) : 1);
                    c.one_kernel = true;
                    c.has = all.cuda && c.given[0].offset == 0 && in_words(dtypes[d], fields, 0) && at.records > 1 ? "; } r_in" : NULL;
                    c.into = n % 4 == 0 ? 1u << turn % LAIDS : 0;
                    c.begins = turn++ % 5;
                    if (has_turn(at.records, d, fields)) {
                        check_it(&c, all.cuda);
                    }
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* The same of views, which begin anywhere in an array that begins at a word. */
static void test_views(void **unused) {
    static const int64_t lengths[] = {257, 1, 4, 9, 64, 255, 1030};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < KINDS && !passed_over(&all.run[r]); d++) {
            for (int fields = 2; fields <= MOST_FIELDS; fields++) {
                for (int64_t from = 1; from <= 16; from += all.cuda && fields < 5 ? 1 : 3) {
                    char text[300];
                    at.records = lengths[collecting ? 0 : from % 7];
                    read_all(fields, fields - 1, 1);
                    char *end = text + sprintf(text, "z = reshape(x[%" PRId64 ":], (%" PRId64 ", %d))\nreturn ", from, at.records, fields);
                    (dtypes[d] == KRF_BOOL ? write_logical(end) : write_sum(end, false));
                    for (char *p = end; (p = strchr(p, 'x')) != NULL;) {
                        *p = 'z';
                    }
                    check c = of(&all.run[r], dtypes[d], text);
                    c.given[0].rank = 1;
                    c.given[0].shape[0] = from + at.records * fields;
                    at.from = from;
                    c.out[0] = (wanted){dtypes[d], 1, {at.records}, dtypes[d] == KRF_BOOL ? any_of_read : sum_of_read};
                    c.has = all.cuda && at.records > 1 && in_words(dtypes[d], fields, from) ? "; } r_in" : NULL;
                    c.lacks = in_words(dtypes[d], fields, from) ? NULL : "; } r_in";
                    if (all.cuda || (d + fields + from) % 8 == 0) {
                        check_it(&c, all.cuda);
                    }
                    at.from = 0;
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* What begins between two fields, but lies at other places. */
static int64_t between(const int64_t *index) { return number(0, index[0] * 3) + number(0, index[0] * 3 + 2) * 2 + number(0, index[0] * 2 + 1) * 3; }

static void test_other_strides(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < KINDS && !passed_over(&all.run[r]); d++) {
            if (dtypes[d] != KRF_BOOL && has_turn(257, d, 0)) {
                at.records = 257;
                check c = of(&all.run[r], dtypes[d], "z = reshape(x[:771], (257, 3))\nw = reshape(x[1:515], (257, 2))\nreturn z[:, 0] + z[:, 2] * 2 + w[:, 0] * 3");
                c.given[0].rank = 1;
                c.given[0].shape[0] = 771;
                c.out[0] = (wanted){dtypes[d], 1, {257}, between};
                c.lacks = "; } r_in";
                check_it(&c, all.cuda);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Lines of records that come in no whole vectors, or begin at no words, though memory goes on behind them. */
static int64_t of_line(const int64_t *index) {
    const int64_t record = index[0] * at.width + index[1];
    return field(0, record, 0) + field(0, record, 1) * 2 + field(0, record, 2) * 3;
}
static int64_t turned_line(const int64_t *index) { return field(0, index[0] * at.width + index[1], 2 - (int)index[2]) + 1; }

static void test_lines(void **unused) {
    static const int64_t sizes[][2] = {{36, 33}, {36, 36}, {35, 32}, {38, 36}, {40, 34}, {37, 37}, {40, 32}}; /* records in memory, and what is read of them */
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < KINDS && !passed_over(&all.run[r]); d++) {
            for (size_t n = 0; n < sizeof sizes / sizeof *sizes && dtypes[d] != KRF_BOOL && has_turn(257, d, 0); n++) {
                char text[200];
                const int64_t most = sizes[n][1];
                at.records = 5;
                at.fields = 3;
                at.width = sizes[n][0];
                sprintf(text, "x[:, :%d, 0] + x[:, :%d, 1] * 2 + x[:, :%d, 2] * 3", (int)most, (int)most, (int)most);
                check c = of(&all.run[r], dtypes[d], text);
                c.given[0] = (given){"x", dtypes[d], 3, {at.records, at.width, 3}, 0, 0, 5};
                c.out[0] = (wanted){dtypes[d], 2, {at.records, most}, of_line};
                c.into = 1u << GAPS_AFTER_ROWS;
                const int size = (int)bytes_of(dtypes[d]);
                c.has = all.cuda && size <= 2 && most % 4 == 0 && at.width * 3 * size % 4 == 0 ? "; } r_in" : NULL;
                c.lacks = most != at.width && at.width * 3 * size % 4 != 0 ? "; } r_in" : NULL;
                check_it(&c, all.cuda);
                sprintf(text, "x[:, :%d, ::-1] + 1", (int)most);
                c.out[0] = (wanted){dtypes[d], 3, {at.records, most, 3}, turned_line};
                c.has = c.lacks = NULL;
                c.into = 1u << GAPS_AFTER_LINES;
                check_it(&c, all.cuda);
                sprintf(text, "stack((x[:, :%d, 2] + 1, x[:, :%d, 1] + 1, x[:, :%d, 0] + 1), axis=-1)", (int)most, (int)most, (int)most);
                check_it(&c, all.cuda);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Records of which something is left out, or that begin elsewhere than at words, beside others that are whole. */
static int64_t beside_whole(const int64_t *index) { return number(1, index[0] * 3) + number(1, index[0] * 3 + 1) * 2 + number(1, index[0] * 3 + 2) * 3 + field(0, index[0], 2) + field(0, index[0], 0); }
static int64_t beside_all(const int64_t *index) { return beside_whole(index) + field(0, index[0], 1); }
static int64_t alone(const int64_t *index) { return field(0, index[0], 1) + field(0, index[0], 0) * 3; }

static void test_loose(void **unused) {
    static const int64_t lengths[] = {257, 1, 4, 6, 13, 255, 1026};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < KINDS && !passed_over(&all.run[r]); d++) {
            for (int turns = 0; turns < 14 && dtypes[d] != KRF_BOOL; turns++) {
                char text[300];
                at.records = lengths[collecting ? 0 : turns % 7];
                at.fields = 3;
                at.from = turns % 5;
                const bool every = turns % 2 == 1;
                sprintf(text, "z = reshape(x[%d:], (%d, 3))\nreturn y[:, 0] + y[:, 1] * 2 + y[:, 2] * 3 + z[:, 2] + z[:, 0]%s", (int)at.from, (int)at.records, every ? " + z[:, 1]" : "");
                check c = of(&all.run[r], dtypes[d], text);
                c.out[0] = (wanted){dtypes[d], 1, {at.records}, every ? beside_all : beside_whole};
                c.n_given = 2;
                c.given[1] = c.given[0];
                c.given[1].name = "y";
                c.given[0] = (given){"x", dtypes[d], 1, {at.from + at.records * 3}, 0, 0, 5};
                c.one_kernel = true;
                c.has = all.cuda && bytes_of(dtypes[d]) <= 2 && at.records > 1 ? "; } r_in" : NULL;
                c.has_too = c.has != NULL && (!every || !in_words(dtypes[d], 3, at.from)) ? "[k * 3" : NULL;
                c.into = 1u << turn++ % LAIDS;
                if (has_turn(at.records, d, 0)) {
                    check_it(&c, all.cuda);
                }
                at.from = 0;
                check few = of(&all.run[r], dtypes[d], "x[:, 1] + x[:, 0] * 3");
                few.out[0] = (wanted){dtypes[d], 1, {at.records}, alone};
                few.given[0].offset = turns % 5;
                few.one_kernel = true;
                few.lacks = "; } r_in";
                if (has_turn(at.records, d, 0) && turns < 7) {
                    check_it(&few, all.cuda);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Records of several lengths, of which a thread has as many: those of the narrowest fill a word. */
static int64_t of_both(const int64_t *index) {
    int64_t sum = sum_of_read(index);
    for (int f = 0; f < at.second; f++) {
        sum += number(1, index[0] * at.second + f) * (f % 3 + 1);
    }
    return sum;
}

static void test_two_lengths(void **unused) {
    static const int64_t lengths[] = {257, 63, 1028, 7};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < KINDS && !passed_over(&all.run[r]); d++) {
            for (int fields = 2; fields <= MOST_FIELDS; fields++) {
                for (at.second = 2; at.second <= MOST_FIELDS; at.second++) {
                    const krf_dtype other = (fields + at.second) % 2 == 1 ? KRF_U8 : dtypes[d];
                    char text[500];
                    at.records = lengths[collecting ? 0 : (fields + at.second) % 4];
                    if (dtypes[d] == KRF_BOOL || !has_turn(at.records, d, fields + 2 * at.second) || (other == dtypes[d] && at.second >= fields)) {
                        continue;
                    }
                    read_all(fields, 0, 1);
                    write_sum(text, false);
                    for (int f = 0; f < at.second; f++) {
                        sprintf(text + strlen(text), " + %s(y[:, %d]) * %d", krf_dtype_name(dtypes[d]), f, f % 3 + 1);
                    }
                    check c = of(&all.run[r], dtypes[d], text);
                    c.out[0] = (wanted){dtypes[d], 1, {at.records}, of_both};
                    c.n_given = 2;
                    c.given[0].values = 4;
                    c.given[1] = (given){"y", other, 2, {at.records, at.second}, 0, 0, 4};
                    const int size = (int)bytes_of(dtypes[d]), size_of_other = (int)bytes_of(other), first_alone = alone_in(dtypes[d], fields), other_alone = alone_in(other, at.second);
                    const int v = first_alone > other_alone ? first_alone : other_alone;
                    c.one_kernel = true;
                    c.lacks = v * fields * size > 48 || v * at.second * size_of_other > 48 || v * size > 16 ? "; } r_in" : NULL;
                    c.has = all.cuda && c.lacks == NULL && v > 1 && (v * at.second * size_of_other % 4 == 0 || v * fields * size % 4 == 0) ? "; } r_in" : NULL;
                    check_it(&c, all.cuda);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Records are stored: from records in another order, over these too, and from planes. */
static void test_stores(void **unused) {
    static const int64_t lengths[] = {257, 32, 33, 34, 35, 37, 70, 255, 1025, 2050};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < KINDS && !passed_over(&all.run[r]); d++) {
            for (int fields = 2; fields <= MOST_FIELDS; fields += fields == 4 ? 4 : 1) {
                for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
                    char text[400];
                    const bool narrow = bytes_of(dtypes[d]) <= 2;
                    at.records = lengths[n];
                    read_all(fields, 1, fields == 3 ? 2 : 1);
                    write_stack(text, "x[:, %d]", false);
                    check c = of(&all.run[r], dtypes[d], text);
                    c.out[0] = (wanted){dtypes[d], 2, {at.records, fields}, put_in_order};
                    c.has = all.cuda && fields == 3 && narrow ? "; } r_out0" : NULL;
                    c.has_too = all.cuda && fields == 3 && narrow ? "; } r_in" : NULL;
                    c.over = true;
                    c.into = n % 2 == 0 ? 1u << turn % LAIDS : 0;
                    c.begins = turn++ % 5;
                    if (has_turn(at.records, d, fields)) {
                        check_it(&c, all.cuda);
                    }
                    write_stack(text, "x[%d]", dtypes[d] != KRF_BOOL);
                    c.given[0].shape[0] = fields;
                    c.given[0].shape[1] = at.records;
                    c.out[0].formula = dtypes[d] == KRF_BOOL ? from_planes : planes_and_one;
                    c.has_too = NULL;
                    c.over = n % 3 == 0;
                    c.has = all.cuda && fields == 3 && narrow && at.records % 4 == 0 ? "; } r_out0" : NULL;
                    if (has_turn(at.records, d, fields)) {
                        check_it(&c, all.cuda);
                    }
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- images ---- */

static int64_t apart(const int64_t *index) { return at.more + number(0, ((index[0] * at.records + index[2]) * at.width + index[3]) * 3 + index[1]); }
static int64_t together(const int64_t *index) { return at.more + number(0, ((index[0] * 3 + index[3]) * at.records + index[1]) * at.width + index[2]); }

/* Planes of colours and colours of planes, of pixels that come in fours and do not. */
static void test_images(void **unused) {
    static const int64_t sizes[][2] = {{4, 33}, {8, 32}, {7, 35}, {3, 36}, {1, 66}, {40, 35}, {8, 13}};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < KINDS && !passed_over(&all.run[r]); d++) {
            for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
                if ((collecting && n > 3) || !has_turn(257, d, 0)) {
                    continue;
                }
                at.records = sizes[n][0];
                at.width = sizes[n][1];
                at.fields = 3;
                const bool fours = at.records * at.width % 4 == 0 && at.width >= 32, narrow = bytes_of(dtypes[d]) <= 2;
                at.more = n % 3 != 1 && dtypes[d] != KRF_BOOL;
                check c = of(&all.run[r], dtypes[d], at.more ? "transpose(x, (0, 3, 1, 2)) + 1" : "transpose(x, (0, 3, 1, 2))");
                c.given[0] = (given){"x", dtypes[d], 4, {2, at.records, at.width, 3}, n % 3 == 1 ? 3 : 0, 0, 5};
                c.out[0] = (wanted){dtypes[d], 4, {2, 3, at.records, at.width}, apart};
                c.has = all.cuda && fours && narrow && at.more ? "; } r_in" : NULL;
                c.over = true;
                c.one_kernel = true;
                c.into = 1u << turn++ % LAIDS;
                check_it(&c, all.cuda);
                c.text = at.more ? "transpose(x, (0, 2, 3, 1)) + 1" : "transpose(x, (0, 2, 3, 1))";
                c.given[0] = (given){"x", dtypes[d], 4, {2, 3, at.records, at.width}, n % 3 == 1 ? 3 : 0, 0, 5};
                c.out[0] = (wanted){dtypes[d], 4, {2, at.records, at.width, 3}, together};
                c.has = all.cuda && fours && narrow && at.more ? "; } r_out0" : NULL;
                check_it(&c, all.cuda);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- beside records ---- */

static int64_t first_and_second(const int64_t *index) { return field(0, index[0], 0) + field(0, index[0], 1) * 2; }
static int64_t third_and_one(const int64_t *index) { return field(0, index[0], 2) * 3 + 1; }
static int64_t with_range(const int64_t *index) { return first_and_second(index) + field(0, index[0], 2) + index[0] % 7; }
static int64_t with_scalar(const int64_t *index) { return first_and_second(index) * number(1, 0) + field(0, index[0], 2); }
static int64_t with_line(const int64_t *index) { return first_and_second(index) + field(0, index[0], 2) * number(1, index[0]); }
static int64_t found(const int64_t *index) { return first_and_second(index) + number(1, field(0, index[0], 2)); }
static int64_t less(const int64_t *index) { return field(0, index[0], 0) < field(0, index[0], 1) || field(0, index[0], 2) == 0; }

static const struct {
    const char *text;
    formula *formulas[3];
    int64_t beside; /* elements of y; -1: one a record */
    krf_dtype dtype; /* of the last result, if it is no one of x */
    bool loads;
} besides[] = {
    {"x[:, 0] + x[:, 1] * 2, x[:, 2] * 3 + 1", {first_and_second, third_and_one}, 0, KRF_BOOL, true},
    {"x[:, 0] + x[:, 1] * 2, x[:, 2] * 3 + 1, (x[:, 0] < x[:, 1]) | (x[:, 2] == 0)", {first_and_second, third_and_one, less}, 0, KRF_BOOL, true},
    {"x[:, 0] + x[:, 1] * 2 + x[:, 2] + D(arange(N) % 7)", {with_range}, 0, KRF_BOOL, true},
    {"(x[:, 0] + x[:, 1] * 2) * y + x[:, 2]", {with_scalar}, 1, KRF_BOOL, true},
    {"x[:, 0] + x[:, 1] * 2 + x[:, 2] * y", {with_line}, -1, KRF_BOOL, true},
    {"x[:, 0] + x[:, 1] * 2 + take(y, i32(x[:, 2]), axis=0)", {found}, 17, KRF_BOOL, true},
};

static void write_for(char *text, const char *from, krf_dtype dtype) {
    for (const char *p = from; *p != 0; p++) {
        const bool alone_here = p == from || p[-1] == ' ' || p[-1] == '(';
        if (alone_here && *p == 'N') {
            text += sprintf(text, "%" PRId64, at.records);
        } else if (alone_here && *p == 'D') {
            text += sprintf(text, "%s", krf_dtype_name(dtype));
        } else {
            *text++ = *p;
        }
    }
    *text = 0;
}

static void test_besides(void **unused) {
    static const int64_t lengths[] = {257, 1, 3, 8, 66, 256, 1027};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < KINDS && !passed_over(&all.run[r]); d++) {
            for (size_t k = 0; k < sizeof besides / sizeof *besides && dtypes[d] != KRF_BOOL; k++) {
                for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
                    char text[300];
                    at.records = lengths[n];
                    at.fields = 3;
                    write_for(text, besides[k].text, dtypes[d]);
                    check c = of(&all.run[r], dtypes[d], text);
                    c.n_given = besides[k].beside == 0 ? 1 : 2;
                    c.given[1] = (given){"y", dtypes[d], besides[k].beside == 1 ? 0 : 1, {besides[k].beside < 0 ? at.records : besides[k].beside}, 0, 0, 6};
                    for (c.n_out = 0; c.n_out < 3 && besides[k].formulas[c.n_out] != NULL; c.n_out++) {
                        c.out[c.n_out] = (wanted){c.n_out == 2 ? besides[k].dtype : dtypes[d], 1, {at.records}, besides[k].formulas[c.n_out]};
                    }
                    c.one_kernel = true;
                    c.has = all.cuda && bytes_of(dtypes[d]) <= 2 && at.records > 1 ? "; } r_in" : NULL;
                    c.into = 1u << turn++ % LAIDS;
                    if (has_turn(at.records, d, (int)k)) {
                        check_it(&c, all.cuda);
                    }
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* What is looked up for a number of elements that ends within a vector, in memory that ends with it. */
static int64_t looked_up_alone(const int64_t *index) { return number(0, number(1, index[0] * 9 + index[1]) * at.width + number(2, 0)) + 1; }

static void test_ends(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < KINDS && !passed_over(&all.run[r]); d++) {
            for (int64_t lines = 1; lines <= 7 && dtypes[d] != KRF_BOOL; lines += 2) {
                at.records = 6;
                at.width = 11;
                check c = of(&all.run[r], dtypes[d], "x[y, z] + 1");
                c.given[0].shape[1] = at.width;
                c.n_given = 3;
                c.given[1] = (given){"y", KRF_I32, 2, {lines, 9}, 0, 0, (int)at.records};
                c.given[2] = (given){"z", KRF_U8, 1, {1}, 0, 0, (int)at.width};
                c.out[0] = (wanted){dtypes[d], 2, {lines, 9}, looked_up_alone};
                c.into = 1u << WHOLE;
                check_it(&c, all.cuda);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Records that are stored of what is looked up, for each field somewhere else: their vectors of two are no word of memory, as two elements of a row are. */
static int64_t looked_up(const int64_t *index) { return number(0, index[0] * at.width + number(1, index[1])) + 1; }

static void test_looked_up(void **unused) {
    static const int64_t lengths[] = {257, 2, 4, 256, 1026, 2050};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < KINDS && !passed_over(&all.run[r]); d++) {
            for (int fields = 2; fields <= MOST_FIELDS && dtypes[d] != KRF_BOOL; fields++) {
                for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
                    at.records = lengths[n];
                    at.width = 7;
                    check c = of(&all.run[r], dtypes[d], "take(x, y, axis=1) + 1");
                    c.given[0].shape[1] = at.width;
                    c.n_given = 2;
                    c.given[1] = (given){"y", KRF_I32, 1, {fields}, 0, 0, (int)at.width};
                    c.out[0] = (wanted){dtypes[d], 2, {at.records, fields}, looked_up};
                    if (has_turn(at.records, d, fields)) {
                        check_it(&c, all.cuda);
                    }
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    return run_part_on(open_noted_runs(&all, false),
                       TESTS(noted_test(test_loads), noted_test(test_views), noted_test(test_other_strides), noted_test(test_lines), noted_test(test_loose),
                             noted_test(test_two_lengths), noted_test(test_stores), noted_test(test_images), noted_test(test_besides), noted_test(test_looked_up), noted_test(test_ends)));
}
