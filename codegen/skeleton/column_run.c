const long long j = 0, left = dense ? end - at : $ROW_LEFT;
const int run = end - at < 256 ? end - at : 256, m = left < run ? (int)left : run;
