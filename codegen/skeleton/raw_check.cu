// The parameters of a kernel that was written elsewhere, held against its definition.
template <class T> struct krf_plain { typedef T type; };
template <class T> struct krf_plain<const T> { typedef T type; };
template <class T> struct krf_plain<volatile T> { typedef T type; };
template <class T> struct krf_plain<const volatile T> { typedef T type; };
template <class T> struct krf_about { static constexpr int bytes = sizeof(T), kind = 0; }; // 1: integers, 2: reals, 0: others
template <> struct krf_about<void> { static constexpr int bytes = 0, kind = 0; };
template <> struct krf_about<float> { static constexpr int bytes = 4, kind = 2; };
template <> struct krf_about<double> { static constexpr int bytes = 8, kind = 2; };
template <> struct krf_about<bool> { static constexpr int bytes = 1, kind = 1; };
template <> struct krf_about<char> { static constexpr int bytes = 1, kind = 1; };
template <> struct krf_about<signed char> { static constexpr int bytes = 1, kind = 1; };
template <> struct krf_about<unsigned char> { static constexpr int bytes = 1, kind = 1; };
template <> struct krf_about<short> { static constexpr int bytes = 2, kind = 1; };
template <> struct krf_about<unsigned short> { static constexpr int bytes = 2, kind = 1; };
template <> struct krf_about<int> { static constexpr int bytes = 4, kind = 1; };
template <> struct krf_about<unsigned> { static constexpr int bytes = 4, kind = 1; };
template <> struct krf_about<long> { static constexpr int bytes = sizeof(long), kind = 1; };
template <> struct krf_about<unsigned long> { static constexpr int bytes = sizeof(long), kind = 1; };
template <> struct krf_about<long long> { static constexpr int bytes = 8, kind = 1; };
template <> struct krf_about<unsigned long long> { static constexpr int bytes = 8, kind = 1; };
template <class T> struct krf_pointee { typedef void type; static constexpr bool pointer = false; };
template <class T> struct krf_pointee<T *> { typedef typename krf_plain<T>::type type; static constexpr bool pointer = true; };
template <class... A> struct krf_list;
template <int I, class L> struct krf_at { typedef void type; };
template <int I, class A, class... B> struct krf_at<I, krf_list<A, B...>> { typedef typename krf_at<I - 1, krf_list<B...>>::type type; };
template <class A, class... B> struct krf_at<0, krf_list<A, B...>> { typedef typename krf_plain<A>::type type; };
template <class F> struct krf_function;
template <class... A> struct krf_function<void(A...)> { static constexpr int count = sizeof...(A); typedef krf_list<A...> list; };
template <int I, class F> struct krf_parameter {
    typedef typename krf_at<I, typename krf_function<F>::list>::type type;
    typedef typename krf_pointee<type>::type element;
    static constexpr bool missing = I >= krf_function<F>::count;
    // An array of elements of so many bytes; parts: of complex numbers, half as many.
    __device__ static constexpr bool array(int bytes, int kind, int parts) {
        return missing || (krf_pointee<type>::pointer && (krf_about<element>::bytes == 0 || (krf_about<element>::bytes == bytes && (kind == 0 || krf_about<element>::kind == 0 || krf_about<element>::kind == kind)) ||
                                                          (krf_about<element>::bytes == parts && krf_about<element>::kind == 2)));
    }
    __device__ static constexpr bool number(int bytes, int kind) {
        return missing || (!krf_pointee<type>::pointer && krf_about<type>::bytes == bytes && (kind == 0 || krf_about<type>::kind == 0 || krf_about<type>::kind == kind));
    }
};
