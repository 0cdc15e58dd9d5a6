import { filterCompiler } from '../../filter/compile-filter.js';
import { any, flag, struct, text } from '../../filter/schema.js';
import type { NotificationEvent } from './event.js';

/** The event attributes that a configuration's filter may use. */
const eventSchema = struct({
  trigger: text,
  message: text,
  run_id: text,
  run_url: text,
  run_message: text,
  run_created_by: text,
  run_status: text,
  run_updated_by: text,
  new_assessment_result: any,
  prior_assessment_result: any,
  run_external_id: text,
  run_create_error_message: text,
  speculative: flag,
  data: any,
});

const compile = filterCompiler(eventSchema);

/** The longest filter of a configuration. */
const longest = 4096;

/** The fault of a filter, as the end of a sentence; null when it is valid. */
export function filterProblem(expression: string): string | null {
  if (expression.length > longest) return `must have at most ${longest} characters`;
  return compile(expression).match(
    () => null,
    ({ message }) => `is not a valid expression: ${message}`,
  );
}

/** Whether the event matches a filter. A filter that fails because the event lacks an attribute does not match. */
export function passesFilter(expression: string, event: NotificationEvent): boolean {
  return compile(expression)
    .andThen(({ matches }) => matches(eventRecord(event)))
    .unwrapOr(false);
}

/** The event as a record of named attributes, for filters. */
export function eventRecord(event: NotificationEvent): Readonly<Record<string, unknown>> {
  const { trigger, message } = event;
  switch (event.kind) {
    case 'run':
      return {
        trigger,
        message,
        run_id: event.runId,
        run_url: event.runUrl,
        run_message: event.runMessage,
        run_created_by: event.runCreatedBy,
        run_status: event.runStatus,
        run_updated_by: event.runUpdatedBy,
        speculative: event.speculative,
        data: event.failure === undefined ? null : { failure: event.failure },
      };
    case 'assessment':
      return {
        trigger,
        message,
        new_assessment_result: event.newAssessmentResult,
        prior_assessment_result: event.priorAssessmentResult,
      };
    case 'auto_destroy':
      return {
        trigger,
        message,
        run_status: event.runStatus,
        run_external_id: event.runExternalId,
        run_create_error_message: event.runCreateErrorMessage,
      };
    case 'custom':
      return { trigger, message, data: event.data };
  }
}
