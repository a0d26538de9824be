// main.c: the command: finds the verb, hands over, and turns a status into an exit code and a message. Place: cli.
#include "cli/help.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "cli/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const oxp__verb *find_verb(const char *name)
{
  for (size_t i = 0; i < oxp__verb_count; i++)
    if (strcmp(oxp__verbs[i]->name, name) == 0)
      return oxp__verbs[i];
  return NULL;
}

static const char *nearest_verb(const char *word)
{
  const char *names[64];
  size_t count = 0;
  for (; count < oxp__verb_count && count < 64; count++)
    names[count] = oxp__verbs[count]->name;
  return oxp__nearest_word(word, names, count);
}

// What was typed in place of a verb: a file to export, unless it looks like a slip.
static oxp_status choose_verb(const char *word, const oxp__verb **verb, oxp_error *error)
{
  struct stat about;
  *verb = find_verb(word);
  if (*verb)
    return OXP_OK;
  const char *nearest = nearest_verb(word);
  bool path = stat(word, &about) == 0 || strpbrk(word, "./");
  if (!path && nearest)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "there is no verb \"%s\"; did you mean %s?", word, nearest);
  if (!path && *word != '-')
    return oxp__fail(error, OXP_BAD_ARGUMENT, "there is no verb and no file \"%s\" (see onnxport --help)", word);
  *verb = find_verb("export");
  return OXP_OK;
}

static void print_error_json(const oxp_error *error)
{
  oxp__json json = { 0 };
  oxp__json_object(&json, NULL);
  oxp__json_object(&json, "error");
  oxp__json_text(&json, "code", oxp_status_name(error->status));
  oxp__json_text(&json, "message", error->message);
  oxp__json_text(&json, "file", error->file);
  oxp__json_text(&json, "layer", error->layer);
  oxp__json_text(&json, "key", error->key);
  oxp__json_end(&json, '}');
  oxp__json_end(&json, '}');
  oxp__json_print(&json, NULL);
}

static int report(oxp_status status, const oxp_error *error, bool as_json)
{
  if (oxp_status_exit_code(status) > 1) { // 0 and 1 are verdicts
    oxp__print_error(error->message);
    if (as_json)
      print_error_json(error);
  }
  return oxp_status_exit_code(status);
}

// Looks for --json by hand: the command line may be what is wrong.
static bool wants_json(int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--json") == 0)
      return true;
  return false;
}

static oxp_status run_verb(const oxp__verb *verb, int argc, char **argv, oxp_error *error)
{
  oxp__arguments arguments;
  oxp_status status = oxp__arguments_parse(&arguments, verb, argc, argv, error);
  if (status == OXP_OK && arguments.help) {
    oxp__text text = { 0 };
    oxp__help_verb(&text, verb);
    status = oxp__print_text(&text, error);
  } else if (status == OXP_OK) {
    status = oxp__streams_open(&arguments, error);
    if (status == OXP_OK)
      status = verb->run(&arguments, error);
    oxp__streams_name(&arguments, error);
  }
  oxp__arguments_fini(&arguments);
  return status;
}

// --help, --version and --man; false when `word` is none of them.
static bool print_about(const char *word, oxp_status *status, oxp_error *error)
{
  oxp__text text = { 0 };
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
    oxp__help_overview(&text);
  else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
    oxp__text_printf(&text, "onnxport %s\n", oxp_version());
  else if (strcmp(word, "--man") == 0)
    oxp__help_manual(&text);
  else
    return false;
  *status = oxp__print_text(&text, error);
  return true;
}

static int show_usage(void)
{
  oxp__print_error("a verb or a file is missing: onnxport VERB ... (see onnxport --help)");
  return oxp_status_exit_code(OXP_BAD_ARGUMENT);
}

// Where one of the standard streams is closed, the next file that is opened would take its number, and messages would
// be written into it. False when nothing can take its place.
static bool fill_standard_streams(void)
{
  for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
    if (fcntl(i, F_GETFD) < 0 && errno == EBADF && open("/dev/null", i == STDIN_FILENO ? O_RDONLY : O_WRONLY) != i)
      return false;
  return true;
}

int main(int argc, char **argv)
{
  oxp_error error = { 0 };
  oxp_status status = OXP_OK;
  const oxp__verb *verb = NULL;
  if (!fill_standard_streams())
    return oxp_status_exit_code(OXP_IO);
  oxp__signals_begin();
  if (argc < 2)
    return show_usage();
  bool as_json = wants_json(argc, argv);
  char help[] = "--help";
  char *help_of_verb[] = { argv[0], help, NULL };
  if (strcmp(argv[1], "help") == 0 && argc == 3 && (verb = find_verb(argv[2])))
    return report(run_verb(verb, 2, help_of_verb, &error), &error, false);
  if (print_about(argv[1], &status, &error))
    return report(status, &error, as_json);
  status = choose_verb(argv[1], &verb, &error);
  if (status != OXP_OK)
    return report(status, &error, as_json);
  int skipped = find_verb(argv[1]) ? 1 : 0; // the verb itself stands where getopt expects the program's name
  return report(run_verb(verb, argc - skipped, argv + skipped, &error), &error, as_json);
}
