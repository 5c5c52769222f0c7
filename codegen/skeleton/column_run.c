const long long j = 0, left = dense ? step * width - at : $ROW_LEFT;
const int run = step * width - at < 256 ? step * width - at : 256, m = left < run ? (int)left : run;
