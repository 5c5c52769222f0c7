/* C compilers that are not there, crash, hang, say too much, or make something that is no kernel. In the automatic tier
 * nobody notices: the interpreter goes on, with right results, and nothing enters the disk cache. The compiled tier,
 * which was asked for, says KRF_E_COMPILE, and what the compiler said. */
#include "failures/scenario.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

typedef struct broken {
    const char *name;
    const char *body;    /* of a shell script; $out is the file to make */
    const char *message; /* part of what the compiled tier says; NULL: it interprets */
} broken;

static const broken compilers[] = {
    {"is missing", NULL, NULL},
    {"fails", "echo 'kernel.c:7: error: no' >&2; exit 3", "status 3: kernel.c:7: error: no"},
    {"crashes", "kill -SEGV $$", "signal 11"},
    {"is killed", "kill -KILL $$", "signal 9"},
    {"makes no file", "cat >/dev/null", "no output"},
    {"reads nothing", "exec <&-; exit 0", "no output"},
    {"talks too much", "head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 1", "xxxx"},
    {"talks to everyone", "head -c 3000000 /dev/zero | tr '\\0' y; echo oops >&2; exit 1", "oops"},
    {"makes an empty file", ": >$out", "cannot be loaded"},
    {"makes text", "echo 'int main;' >$out", "cannot be loaded"},
    {"makes noise", "head -c 20000 /dev/urandom >$out", "cannot be loaded"},
    {"makes a folder", "mkdir $out", "no output"},
    {"makes a link to itself", "ln -s $out $out", "no output"},
    {"makes a pipe", "mkfifo $out", "no output"},
    {"makes half an object", "$real -shared -o $out.x -x c - </dev/null; head -c 4000 $out.x >$out",
     "cannot be loaded"},
    {"makes an empty object", "$real -shared -o $out -x c - </dev/null", "no function of that name"},
    {"makes an object that misses a symbol",
     "echo 'int elsewhere(void); int f(void) { return elsewhere(); }' | $real -shared -fPIC -o $out -x c -",
     "elsewhere"},
    {"makes what cannot be read", "$real -c -o $out -x c - </dev/null", "cannot be loaded"},
    {"removes its folder", "rm -rf \"$TMPDIR\"; echo gone >&2; exit 1", "gone"},
    {"closes its output and fails", "exec 2>&-; exit 1", "status 1"},
};
enum { COUNT = sizeof compilers / sizeof *compilers };

static const char *folder;

/* The script as a command. */
static const char *write_script(const char *body) {
    static char path[128];
    const char *cc = getenv("CC");
    if (body == NULL) {
        return "/nonexistent/cc";
    }
    snprintf(path, sizeof path, "%s/../cc.sh", folder);
    FILE *file = fopen(path, "w");
    if (file == NULL
        || fprintf(file,
                   "#!/bin/sh\nreal='%s'\nwhile [ $# -gt 0 ]; do\n    [ \"$1\" = -o ] && out=$2\n    shift\n"
                   "done\n%s\n",
                   cc != NULL ? cc : "cc", body)
               < 0
        || fclose(file) != 0 || chmod(path, 0700) != 0) {
        perror(path);
        return NULL;
    }
    return path;
}

static int run(const broken *b, krf_cpu_tier tier, bool background) {
    scene s = {.device = "cpu",
               .tier = tier,
               .steps = SCENE_EVALUATE | SCENE_LARGE | SCENE_REOPEN,
               .folder = folder,
               .background = background,
               .compiler = write_script(b->body),
               .compiler_is_broken = true};
    scene_empty(folder);
    if (s.compiler == NULL) {
        return 1;
    }
    long before = krf__mem_live();
    int files = scene_open_files();
    scene_run(&s);
    bool must_fail = tier == KRF_CPU_COMPILE && b->message != NULL;
    if (s.status != (must_fail ? KRF_E_COMPILE : KRF_OK)) {
        scene_wrong(&s, "%s: %s", krf_status_name(s.status), s.message);
    } else if (must_fail && strstr(s.message, b->message) == NULL) {
        scene_wrong(&s, "\"%s\" is not in \"%s\"", b->message, s.message);
    }
    if (s.stats.disk_bytes_written != 0 || s.again.disk_hits != 0 || scene_unknown_entries(folder) != 0) {
        scene_wrong(&s, "something entered the disk cache");
    }
    if (scene_left_over() != 0) {
        scene_wrong(&s, "%d files or folders are left in TMPDIR", scene_left_over());
        scene_empty(getenv("TMPDIR"));
    }
    if (scene_open_files() != files) {
        scene_wrong(&s, "%d descriptors are open, and %d were before", scene_open_files(), files);
    }
    if (krf__mem_live() != before) {
        scene_wrong(&s, "%ld blocks are in use, and %ld were before", krf__mem_live(), before);
    }
    if (s.wrong != 0) {
        fprintf(stderr, "  a compiler that %s, tier %d%s\n", b->name, (int)tier,
                background ? ", in the background" : "");
    }
    return s.wrong;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The interpreter does not wait for a compiler that hangs; only closing the context does. */
static int run_hanging(void) {
    static const broken b = {"hangs", "sleep 2; exit 1", "status 1"};
    scene s = {.device = "cpu",
               .tier = KRF_CPU_AUTO,
               .steps = SCENE_EVALUATE | SCENE_LARGE | SCENE_PLAN,
               .folder = folder,
               .background = true,
               .compiler = write_script(b.body)};
    double start = seconds();
    scene_run(&s);
    double took = seconds() - start;
    if (s.status != KRF_OK || s.stats.interpreted < 3 || took > 20) {
        scene_wrong(&s, "%s, %lld interpreted, in %g s: %s", krf_status_name(s.status), (long long)s.stats.interpreted,
                    took, s.message);
    }
    return s.wrong;
}

int main(void) {
    int wrong = 0;
    folder = scene_make_folder();
    if (folder == NULL) {
        return 1;
    }
    for (int i = 0; i < COUNT; i++) {
        wrong += run(&compilers[i], KRF_CPU_AUTO, false);
        wrong += run(&compilers[i], KRF_CPU_COMPILE, false);
        wrong += run(&compilers[i], KRF_CPU_AUTO, true);
    }
    wrong += run_hanging();
    scene_remove_folder();
    printf("%d compilers; %s\n", COUNT + 1, wrong == 0 ? "ok" : "FAILED");
    return wrong != 0;
}
