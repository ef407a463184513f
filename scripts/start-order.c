// Which functions of a program run until it is told to end, each once, in the order in which they first do:
//
//   start-order FUNCTIONS SECONDS PROGRAM [ARGUMENT ...]
//
// FUNCTIONS has a line for each, its address in the file in hexadecimal and its name. Each gets a breakpoint that is taken
// away when it is reached (ptrace(2)). The names go to standard output; after SECONDS the program gets SIGTERM.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BREAKPOINT = 0xCC, NAME = 16384 };

struct function {
  unsigned long address;
  char *name;
  unsigned char first_byte;
  bool is_armed;
};

static struct function *functions;
static size_t count;
static pid_t child;

static _Noreturn void die(const char *what) {
  perror(what);
  exit(1);
}

static int by_address(const void *left, const void *right) {
  unsigned long one = ((const struct function *)left)->address, other = ((const struct function *)right)->address;
  return (one > other) - (one < other);
}

static void read_functions(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) die(path);
  static char name[NAME];
  unsigned long address;
  while (fscanf(file, "%lx %16383s", &address, name) == 2) {
    if (count % 1024 == 0) functions = realloc(functions, (count + 1024) * sizeof *functions);
    if (functions == NULL) die("realloc");
    functions[count++] = (struct function){.address = address, .name = strdup(name)};
  }
  fclose(file);
  qsort(functions, count, sizeof *functions, by_address);
}

// Where the program lies: the first mapping of its file.
static unsigned long base_address(const char *program) {
  char path[64], line[4096], *whole = realpath(program, NULL);
  snprintf(path, sizeof path, "/proc/%d/maps", child);
  FILE *maps = fopen(path, "r");
  if (maps == NULL || whole == NULL) die(path);
  while (fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, whole) != NULL) {
      fclose(maps);
      free(whole);
      return strtoul(line, NULL, 16);
    }
  die("the program is not mapped");
}

static void arm(int memory, unsigned long base) {
  const unsigned char breakpoint = BREAKPOINT;
  for (size_t index = 0; index < count; index++) {
    struct function *function = &functions[index];
    // Several names of one function: the first stands for all.
    if (index > 0 && function->address == functions[index - 1].address) continue;
    off_t place = (off_t)(base + function->address);
    function->is_armed = pread(memory, &function->first_byte, 1, place) == 1 && pwrite(memory, &breakpoint, 1, place) == 1;
  }
}

// True when the thread stands behind a breakpoint of ours, and may go on.
static bool reached(int memory, unsigned long base, pid_t thread) {
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, thread, NULL, &registers) != 0) return false;
  struct function key = {.address = registers.rip - 1 - base};
  struct function *found = bsearch(&key, functions, count, sizeof *functions, by_address);
  if (found == NULL) return false;
  while (found > functions && found[-1].address == key.address) found--;
  if (found->is_armed) {
    if (pwrite(memory, &found->first_byte, 1, (off_t)(base + key.address)) != 1) die("pwrite");
    found->is_armed = false;
    // All names, as the linker may know it by any.
    for (struct function *name = found; name < functions + count && name->address == key.address; name++) puts(name->name);
  }
  registers.rip--;
  return ptrace(PTRACE_SETREGS, thread, NULL, &registers) == 0;
}

static void end_child(int number) {
  (void)number;
  kill(child, SIGTERM);
}

int main(int argument_count, char **arguments) {
  if (argument_count < 4) return 64;
  read_functions(arguments[1]);
  child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    // Its output is not ours.
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execv(arguments[3], arguments + 3);
    _exit(127);
  }
  int status;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) die(arguments[3]);
  ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", child);
  int memory = open(path, O_RDWR | O_CLOEXEC);
  if (memory < 0) die(path);
  unsigned long base = base_address(arguments[3]);
  arm(memory, base);
  struct sigaction action = {.sa_handler = end_child, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  alarm((unsigned)atoi(arguments[2]));
  ptrace(PTRACE_CONT, child, NULL, NULL);
  for (;;) {
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) break;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (thread != child) continue;
      return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
    }
    long signal = WSTOPSIG(status);
    if (status >> 16 != 0 || signal == SIGSTOP) signal = 0;
    else if (signal == SIGTRAP && reached(memory, base, thread)) signal = 0;
    ptrace(PTRACE_CONT, thread, NULL, signal);
  }
  return 1;
}
