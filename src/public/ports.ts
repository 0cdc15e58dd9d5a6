/** Waiting, metrics and notations. For authors of adapters. The ports are those of `signalbox/ports`. */

export type { FilterEvaluationError } from '../filter/evaluation.js';
export type { FilterSyntaxError } from '../filter/parse-filter.js';
export type { ChildrenSummary, GroupSummary, JobSummary } from '../jobs/status/job-summary-record.js';
export {
  type Instrument,
  instruments,
  type Measured,
  type MetricFamily,
  type MetricName,
} from '../metrics/instruments.js';
export type { EngineContext } from '../operations/context/engine-context.js';
export { readNothing, type Waiting } from '../operations/waiting/blocking-query.js';
export type { Answer } from '../operations/waiting/parked-queries.js';
export { type FaultyPolicyRule, type PolicyRule, policyOfRule } from '../queries/policy-rule.js';
export {
  type DurationError,
  type Milliseconds,
  millisecondsFromNanos,
  parseDurationNanos,
} from '../shared/duration.js';
export { type Instant, instantFromUnixNanos, isoFromInstant, unixNanosFromInstant } from '../shared/instant.js';
