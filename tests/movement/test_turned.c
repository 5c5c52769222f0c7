/* Images that are turned by a quarter: maps go backwards through the dimension along which memory is read so (plan/flip.c), and are squares then. All dtypes, sizes and ranks against formulas, with what is read forwards, counted or gathered beside,
 * and over the memory that is read. */
#include "ops/common.h"

#include "ops/against.h"

static runs all;

static const krf_dtype dtypes[] = {KRF_U8, KRF_F32, KRF_BF16, KRF_BOOL, KRF_I16, KRF_F64, KRF_I8, KRF_F16, KRF_I32, KRF_C64};
enum { KINDS = sizeof dtypes / sizeof *dtypes };

static int64_t height, width, channels; /* of x; those of z are in front */

static int64_t image(int operand, int64_t i, int64_t j) { return number(operand, i * width + j); }
static int64_t left(const int64_t *index) { return image(0, index[1], width - 1 - index[0]); }
static int64_t right(const int64_t *index) { return image(0, height - 1 - index[1], index[0]); }
static int64_t across(const int64_t *index) { return image(0, height - 1 - index[1], width - 1 - index[0]); }
static int64_t left_and_one(const int64_t *index) { return left(index) + 1; }
static int64_t of_place(const int64_t *index) { return left(index) + (index[0] * height + index[1]) % 5; }
static int64_t of_line(const int64_t *index) { return left(index) * (index[0] % 3); }
static int64_t of_column(const int64_t *index) { return left(index) + index[1] % 3; }
static int64_t with_upright(const int64_t *index) { return left(index) + number(1, index[0] * height + index[1]) * 2; }
static int64_t with_transposed(const int64_t *index) { return left(index) + number(1, index[1] * width + index[0]) * 2; }
static int64_t with_turned(const int64_t *index) { return left(index) + image(1, index[1], width - 1 - index[0]) * 2; }
static int64_t with_lines(const int64_t *index) { return left(index) + number(1, index[1]); }
static int64_t with_lines_back(const int64_t *index) { return left(index) + number(1, width - 1 - index[0]); }
static int64_t with_found(const int64_t *index) { return left(index) + number(1, left(index)); }
static int64_t with_found_line(const int64_t *index) { return left(index) + number(1, index[0] % 4); }
static int64_t with_scalar(const int64_t *index) { return left(index) * number(1, 0); }
static int64_t each_left(const int64_t *index) { return number(0, (index[0] * height + index[2]) * width + width - 1 - index[1]); }
static int64_t channels_left(const int64_t *index) { return number(0, (index[1] * width + width - 1 - index[0]) * channels + index[2]); }
static int64_t to_channels(const int64_t *index) { return number(0, (index[2] * height + index[0]) * width + width - 1 - index[1]); }
static int64_t to_front(const int64_t *index) { return number(0, (index[1] * height + index[2]) * width + width - 1 - index[0]); }
static int64_t back_and_front(const int64_t *index) { return number(0, ((channels - 1 - index[1]) * height + height - 1 - index[2]) * width + width - 1 - index[0]); }
static int64_t part_left(const int64_t *index) { return image(0, index[1] + 1, width - 2 - index[0]); }
static int64_t doubles_left(const int64_t *index) { return image(0, index[1], width - 1 - index[0]) + image(0, index[1], index[0]); }

enum axes { PLAIN, PLANES, CHANNELS, BY_CHANNELS, IN_FRONT, INNER };

static const struct {
    const char *text; /* N: of elements, W, H: those */
    formula *formula;
    enum axes axes;
    int beside; /* y's: 0: there is none; 1: as the result; 2: as x; 3: H; 4: W; 5: a table; 6: a number */
    bool arithmetic, square; /* no bools; whether it is one by squares */
} examples[] = {
    {"transpose(x[:, ::-1])", left, PLAIN, 0, false, true},
    {"transpose(x)[::-1]", left, PLAIN, 0, false, true},
    {"transpose(x[::-1])", right, PLAIN, 0, false, true},
    {"transpose(x)[:, ::-1]", right, PLAIN, 0, false, true},
    {"transpose(x[::-1, ::-1])", across, PLAIN, 0, false, true},
    {"transpose(x[:, ::-1]) + 1", left_and_one, PLAIN, 0, true, true},
    {"transpose(x[:, ::-1]) + D(reshape(arange(N) % 5, (W, H)))", of_place, PLAIN, 0, true, true},
    {"transpose(x[:, ::-1]) * D(arange(W) % 3)[:, None]", of_line, PLAIN, 0, true, true},
    {"transpose(x)[::-1] + D(arange(H) % 3)", of_column, PLAIN, 0, true, true},
    {"transpose(x[:, ::-1]) + y * 2", with_upright, PLAIN, 1, true, true},
    {"transpose(x[:, ::-1]) + transpose(y) * 2", with_transposed, PLAIN, 2, true, true},
    {"transpose(x[:, ::-1]) + transpose(y[:, ::-1]) * 2", with_turned, PLAIN, 2, true, true},
    {"transpose(x[:, ::-1]) + y", with_lines, PLAIN, 3, true, true},
    {"transpose(x[:, ::-1]) + y[::-1, None]", with_lines_back, PLAIN, 4, true, true},
    {"transpose(x[:, ::-1]) + take(y, i32(transpose(x[:, ::-1])), axis=0)", with_found, PLAIN, 5, true, false},
    {"transpose(x[:, ::-1]) + take(y, arange(W) % 4, axis=0)[:, None]", with_found_line, PLAIN, 5, true, false},
    {"transpose(x[:, ::-1]) * y", with_scalar, PLAIN, 6, true, true},
    {"transpose(x[:, :, ::-1], (0, 2, 1))", each_left, PLANES, 0, false, true},
    {"transpose(x, (0, 2, 1))[:, ::-1]", each_left, PLANES, 0, false, true},
    {"transpose(x[:, ::-1], (1, 0, 2))", channels_left, CHANNELS, 0, false, false},
    {"transpose(x[:, :, ::-1], (1, 2, 0))", to_channels, BY_CHANNELS, 0, false, false},
    {"transpose(x[:, :, ::-1], (2, 0, 1))", to_front, IN_FRONT, 0, false, true},
    {"transpose(x[::-1, ::-1, ::-1], (2, 0, 1))", back_and_front, IN_FRONT, 0, false, true},
    {"transpose(x[1:, :-1][:, ::-1])", part_left, INNER, 0, false, true},
    {"transpose(x[:, ::-1]) + transpose(x)", doubles_left, PLAIN, 0, true, true},
};

static void write_text(char *text, const char *from, krf_dtype dtype) {
    for (const char *p = from; *p != 0; p++) {
        if (strncmp(p, "None", 4) == 0) {
            text += sprintf(text, "None");
            p += 3;
        } else if (*p == 'D') {
            text += sprintf(text, "%s", krf_dtype_name(dtype));
        } else if (*p == 'N' || *p == 'W' || *p == 'H') {
            text += sprintf(text, "%" PRId64, *p == 'N' ? height * width : *p == 'W' ? width : height);
        } else {
            *text++ = *p;
        }
    }
    *text = 0;
}

static void set_shapes(check *c, enum axes axes, krf_dtype dtype, formula *f) {
    given *x = &c->given[0];
    *x = (given){"x", dtype, 3, {0}, 0, 0, dtype == KRF_BOOL ? 2 : 11};
    c->out[0] = (wanted){dtype, 3, {0}, f};
    int64_t *out = c->out[0].shape;
    switch (axes) {
    case PLAIN:
    case INNER:
        x->rank = c->out[0].rank = 2;
        memcpy(x->shape, (int64_t[]){height, width}, 2 * sizeof *x->shape);
        memcpy(out, (int64_t[]){axes == INNER ? width - 1 : width, axes == INNER ? height - 1 : height}, 2 * sizeof *out);
        return;
    case CHANNELS:
        memcpy(x->shape, (int64_t[]){height, width, channels}, 3 * sizeof *x->shape);
        memcpy(out, (int64_t[]){width, height, channels}, 3 * sizeof *out);
        return;
    default:
        memcpy(x->shape, (int64_t[]){channels, height, width}, 3 * sizeof *x->shape);
        memcpy(out, axes == PLANES ? (int64_t[]){channels, width, height} : axes == BY_CHANNELS ? (int64_t[]){height, width, channels} : (int64_t[]){width, channels, height}, 3 * sizeof *out);
    }
}

static bool goes_by_squares(krf_graph *g, krf_expr result) {
    krf_plan *plan = NULL;
    krf_kernel_info info = {.size = sizeof info};
    assert_int_equal(krf_compile(g, 1, &result, NULL, &plan), KRF_OK);
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    const bool by_squares = strcmp(info.schedule, "tile") == 0;
    krf_plan_release(plan);
    return by_squares;
}

/* Large ones alone are sure to be, of elements that a square has room for. */
static void check_schedule(const check *c, size_t k) {
    krf_array *base[2] = {NULL}, *view[2] = {NULL};
    krf_binding bindings[2];
    krf_graph *g = krf_graph_create(c->run->context);
    krf_expr result;
    now = c;
    for (int i = 0; i < c->n_given; i++) {
        view[i] = operand_of(c, i, &base[i]);
        bindings[i] = krf_bind_array(c->given[i].name, view[i]);
    }
    assert_int_equal(krf_parse(g, c->text, bindings, c->n_given, &result), KRF_OK);
    if (goes_by_squares(g, result) != examples[k].square) {
        COMPLAIN("%s, %s %s: %s", c->run->label, c->text, krf_dtype_name(c->given[0].dtype), examples[k].square ? "not by squares" : "by squares");
    }
    krf_graph_destroy(g);
    for (int i = 0; i < c->n_given; i++) {
        krf_array_release(view[i]);
        krf_array_release(base[i]);
    }
}

static void test_turned(void **unused) {
    static const int64_t sizes[][2] = {{128, 160}, {64, 64}, {65, 67}, {1, 9}, {9, 1}, {2, 2}, {33, 128}, {200, 31}, {7, 300}};
    int turn = 0;
    (void)unused;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            for (int r = 0; r < all.n; r++) {
                const krf_dtype dtype = dtypes[(k * 3 + n * 7 + n / 3) % KINDS];
                char text[200];
                if (passed_over(&all.run[r]) || (all.run[r].compiled && n > 0 && (k + n) % 3 != 0)) {
                    continue;
                }
                height = sizes[n][0];
                width = sizes[n][1];
                channels = 2 + (int64_t)k % 4;
                if ((examples[k].arithmetic && (dtype == KRF_BOOL || dtype == KRF_C64)) || (examples[k].axes == INNER && (height < 2 || width < 2))) {
                    continue;
                }
                write_text(text, examples[k].text, dtype);
                check c = {.run = &all.run[r], .text = text, .n_given = examples[k].beside == 0 ? 1 : 2, .n_out = 1, .over = true, .one_kernel = true};
                set_shapes(&c, examples[k].axes, dtype, examples[k].formula);
                c.given[1] = c.given[0];
                c.given[1].name = "y";
                switch (examples[k].beside) {
                case 1: memcpy(c.given[1].shape, c.out[0].shape, sizeof c.given[1].shape); break;
                case 3: c.given[1].rank = 1; break;
                case 4: c.given[1].rank = 1, c.given[1].shape[0] = width; break;
                case 5: c.given[1].rank = 1, c.given[1].shape[0] = 11; break;
                case 6: c.given[1].rank = 0; break;
                default: break;
                }
                c.given[0].offset = n % 4 == 1 ? 3 : n % 4 == 2 ? 16 : 0;
                c.into = 1u << turn % LAIDS;
                c.begins = turn++ % 3;
                check_it(&c, all.cuda);
                if (n == 0 && dtype != KRF_C64) {
                    check_schedule(&c, k);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_part_on(open_noted_runs(&all, false), TESTS(noted_test(test_turned))); }
