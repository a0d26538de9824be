// verify_expected.c: outputs that somebody else computed from the same input (the tool that trained the network),
// compared with what both sides make of it: says whether the network was read right, which the two sides alone cannot.
// Place: engines.
#include <math.h>

#include "engines/verify.h"

enum { EXPECTED_SIDES = 2 }; // the trusted side, then the tested one

static oxp_status expected_check(const oxp__verify *verify, oxp_error *error)
{
  if (!verify->options.inputs)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "expected outputs were given without the inputs that they come from");
  for (int i = 0; i < verify->output_count; i++) {
    const oxp_array *told = &verify->options.expected[i];
    if (told->rank < 1 || !told->data)
      return oxp__fail(error, OXP_BAD_ARGUMENT, "the array expected of output %d has no axis for the samples", i);
    if (!oxp__compare_takes(told->dtype))
      return oxp__fail(error, OXP_BAD_ARGUMENT,
                       "the array expected of output %d is %s; only real numbers can be compared", i,
                       oxp_dtype_name(told->dtype));
    if (told->shape[0] != verify->samples)
      return oxp__fail(error, OXP_BAD_ARGUMENT,
                       "the array expected of output %d holds %lld samples; there are %lld of the input", i,
                       (long long)told->shape[0], (long long)verify->samples);
  }
  return OXP_OK;
}

static oxp_status expected_new_rows(oxp__verify *verify, oxp_error *error)
{
  oxp_verify_report *report = verify->report;
  const char *sides[EXPECTED_SIDES] = { verify->options.engine, verify->options.against };
  report->expected_count = EXPECTED_SIDES * verify->output_count;
  report->expected = oxp__arena_new(&report->arena, (size_t)report->expected_count, sizeof *report->expected);
  if (!report->expected)
    return oxp__fail_memory(error, (size_t)report->expected_count * sizeof *report->expected);
  for (int i = 0; i < report->expected_count; i++) {
    oxp_verify_row *row = &report->expected[i];
    *row = report->outputs[i / EXPECTED_SIDES]; // name and limits
    row->kind = oxp__arena_copy(&report->arena, sides[i % EXPECTED_SIDES]);
    row->difference = (oxp_difference){ .match = true };
    row->problem = NULL;
    row->batch = row->still = 0;
    if (!row->kind)
      return oxp__fail_memory(error, 1);
  }
  return OXP_OK;
}

// Keeps the run with the most mismatches, or the largest difference where there are none.
static void expected_keep_worse(oxp_verify_row *row, int64_t batch, oxp_difference difference)
{
  const oxp_difference *before = &row->difference;
  bool worse = difference.mismatches != before->mismatches ? difference.mismatches > before->mismatches
                                                           : difference.max_abs > before->max_abs;
  difference.compared += before->compared;
  difference.scale = fmax(difference.scale, before->scale);
  int64_t compared = difference.compared;
  double scale = difference.scale;
  if (row->batch == 0 || worse) {
    row->difference = difference;
    row->batch = batch;
  }
  row->difference.compared = compared;
  row->difference.scale = scale;
}

static oxp_status expected_compare(const oxp__verify *verify, const oxp__verify_value *value, oxp_verify_row *row,
                                   int64_t batch, const oxp_array *told, const oxp_array *made, oxp_error *error)
{
  oxp_difference difference = { 0 };
  bool limited = value->atol && oxp__channel_count(told) == value->channel_count;
  if (row->problem)
    return OXP_OK;
  row->problem = oxp__verify_shape_problem(verify, told, made);
  if (row->problem) {
    row->difference = difference;
    row->batch = batch;
    return OXP_OK;
  }
  OXP__TRY(oxp__compare(told, made, verify->options.rtol, limited ? value->atol : &verify->options.atol,
                        limited ? value->channel_count : 1, &difference, error));
  expected_keep_worse(row, batch, difference);
  return OXP_OK;
}

// A verify_look: what both sides made of a run, against the samples that belong to it.
static oxp_status expected_look(const oxp__verify *verify, oxp__verify_value *value, size_t run,
                                const oxp_array *expected, const oxp_array *actual, oxp_error *error)
{
  int output = (int)(value - verify->values) - verify->layer_count;
  if (output < 0) // a layer
    return OXP_OK;
  const oxp_array *given = &verify->options.expected[output], *sides[EXPECTED_SIDES] = { expected, actual };
  oxp_verify_row *rows = &verify->report->expected[EXPECTED_SIDES * output];
  oxp_array told = { 0 };
  int64_t shape[OXP_MAX_RANK], batch = verify->runs[run].batch;
  for (int i = 0; i < given->rank; i++)
    shape[i] = i == 0 ? batch : given->shape[i];
  OXP__TRY(oxp_array_new(&told, given->dtype, given->rank, shape, error));
  oxp__verify_take_samples(given, verify->runs[run].first, &told);
  oxp_status status = OXP_OK;
  for (int side = 0; status == OXP_OK && side < EXPECTED_SIDES; side++)
    status = expected_compare(verify, value, &rows[side], batch, &told, sides[side], error);
  oxp_array_free(&told);
  return status;
}

// Says who departs from what was expected; `sides` is "the network as it is read" or the like.
static void expected_add_departure(oxp__text *finding, const oxp_verify_row *row, const char *side)
{
  oxp__text_printf(finding, "%s departs from the expected output \"%s\"", side, row->name);
  char words[OXP__VERIFY_WORDS];
  const oxp_difference *difference = &row->difference;
  if (row->problem)
    oxp__text_printf(finding, " (%s)", row->problem);
  else if (difference->not_finite > 0)
    oxp__text_printf(finding, " (%s)", oxp__verify_words(difference->max_abs, difference->not_finite, words));
  else
    oxp__text_printf(finding, " (by %.2g in %lld place%s)", difference->max_abs, (long long)difference->mismatches,
                     difference->mismatches == 1 ? "" : "s");
}

static void expected_find(oxp__verify *verify, const oxp_verify_row *rows)
{
  oxp__text *finding = &verify->report->finding;
  bool network = rows[0].difference.match, model = rows[1].difference.match;
  oxp__text_add(finding, finding->length > 0 ? " " : "");
  if (!network && !model) {
    expected_add_departure(finding, &rows[0], "The network, as it is read here,");
    oxp__text_add(finding,
                  ", and so does the model: other weights, another preparation of the input or another order of "
                  "the samples than the expected output was computed with.");
  } else if (!network) {
    expected_add_departure(finding, &rows[0], "The network, as it is read here,");
    oxp__text_add(finding, "; the model does not.");
  } else {
    expected_add_departure(finding, &rows[1], "The model");
    oxp__text_add(finding, "; the network, as it is read here, does not.");
  }
}

oxp_status oxp__verify_expected(oxp__verify *verify, oxp_status verdict, oxp_error *error)
{
  OXP__TRY(expected_check(verify, error));
  OXP__TRY(expected_new_rows(verify, error));
  for (size_t run = 0; run < verify->run_count; run++)
    OXP__TRY(oxp__verify_run_again(verify, run, expected_look, error));
  for (int i = 0; i < verify->output_count; i++) {
    const oxp_verify_row *rows = &verify->report->expected[EXPECTED_SIDES * i];
    if (rows[0].difference.match && rows[1].difference.match)
      continue;
    if (verdict != OXP_DIFFERENT)
      oxp__text_fini(&verify->report->finding); // of nothing having been shown
    expected_find(verify, rows);
    verdict = OXP_DIFFERENT;
  }
  OXP__TRY(oxp__text_status(&verify->report->finding, error));
  return verdict;
}
