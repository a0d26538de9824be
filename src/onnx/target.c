// target.c: see target.h. Place: onnx.
#include "onnx/target.h"

// Asks without having got further: while somebody else is waited for.
static bool target_go_on(void *context)
{
  const oxp__written *written = context;
  const oxp_write_options *options = written->options;
  return !options->progress || options->progress(options->progress_context, written->done_bytes, written->total_bytes);
}

oxp_status oxp__target_open(oxp__target *target, const char *path, oxp__written *written, oxp_error *error)
{
  *target = (oxp__target){ .written = written };
  oxp__output_guard guard = { .sources = written->sources, .go_on = target_go_on, .context = written };
  return oxp__output_open(&target->output, path, &guard, error);
}

static oxp_status target_write(void *context, const void *bytes, size_t count, oxp_error *error)
{
  oxp__target *target = context;
  oxp__written *written = target->written;
  OXP__TRY(oxp__output_write(&target->output, bytes, count, error));
  written->done_bytes += count;
  const oxp_write_options *options = written->options;
  if (options->progress && !options->progress(options->progress_context, written->done_bytes, written->total_bytes))
    return oxp__fail(error, OXP_CANCELLED, "stopped on request after %llu of %llu bytes; nothing was written",
                     (unsigned long long)written->done_bytes, (unsigned long long)written->total_bytes);
  return OXP_OK;
}

static oxp_status target_defer(void *context, const oxp_tensor *tensor, oxp__tensor_stats *stats, oxp_error *error)
{
  oxp__target *target = context;
  oxp__copy_job *jobs =
      oxp__arena_grow(&target->arena, target->jobs, target->job_count, &target->job_capacity, sizeof *jobs);
  if (!jobs)
    return oxp__fail_memory(error, target->job_count * sizeof *jobs);
  target->jobs = jobs;
  oxp__copy_job *job = &jobs[target->job_count++];
  *job = (oxp__copy_job){ .tensor = tensor, .stats = stats };
  return oxp__output_skip(&target->output, oxp__tensor_bytes(tensor, OXP_DTYPE_NONE), &job->target_offset, error);
}

static bool target_progress(void *context, uint64_t done_bytes)
{
  const oxp__written *written = context;
  const oxp_write_options *options = written->options;
  return !options->progress ||
         options->progress(options->progress_context, written->done_bytes + done_bytes, written->total_bytes);
}

static oxp_status target_settle(void *context, oxp_error *error)
{
  oxp__target *target = context;
  if (target->job_count == 0)
    return OXP_OK;
  OXP__TRY(oxp__output_reserve(&target->output, error));
  OXP__TRY(oxp__copy_run(target->jobs, target->job_count, target->output.descriptor, target->output.given_path,
                         target_progress, target->written, error));
  for (size_t i = 0; i < target->job_count; i++)
    target->written->done_bytes += oxp__tensor_bytes(target->jobs[i].tensor, OXP_DTYPE_NONE);
  target->job_count = 0;
  return OXP_OK;
}

oxp__sink oxp__target_sink(oxp__target *target)
{
  return (oxp__sink){ .write = target_write,
                      .context = target,
                      .beside = target->output.target_path,
                      .defer = target_defer,
                      .settle = target_settle };
}

void oxp__target_fini(oxp__target *target)
{
  oxp__output_abort(&target->output);
  oxp__arena_fini(&target->arena);
}
