import { quoted } from '../../../shared/values.js';
import { secondNanos } from '../../document/document-values.js';
import { type ServiceCheck, serviceCheckBlock } from '../../document/service.js';
import { choiceProblem } from '../problems.js';

/** Whether the check connects to a port. */
export function needsPort(check: ServiceCheck): boolean {
  return ['http', 'tcp', 'grpc'].includes(check.Type.toLowerCase());
}

/** The first problem of a check, whose fields depend on each other; undefined when there is none. */
export function checkProblem(check: ServiceCheck, provider: string): string | undefined {
  return (
    typeProblem(check, provider) ??
    requestProblem(check) ??
    timeProblem(check) ??
    modeProblem(check) ??
    restartProblem(check) ??
    (provider === 'nomad' ? builtInProblem(check) : catalogueProblem(check))
  );
}

/** Types are known in any case of letters. The built-in catalogue knows two of them. */
function typeProblem(check: ServiceCheck, provider: string): string | undefined {
  const types = provider === 'nomad' ? { values: ['http', 'tcp'] } : serviceCheckBlock.fields.Type;
  if (types.values.includes(check.Type.toLowerCase())) return undefined;
  return choiceProblem('the type', types, check.Type);
}

function requestProblem(check: ServiceCheck): string | undefined {
  const type = check.Type.toLowerCase();
  if (type === 'script') return check.Command === '' ? 'a script check needs a command' : undefined;
  if (type !== 'http') return undefined;
  if (check.Path === '') return 'an http check needs a path';
  if (!isUrl(check.Path)) return `the path ${quoted(check.Path)} of an http check is not a URL path`;
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(check.Path) ? 'the path of an http check must be relative' : undefined;
}

/** What parses as a URL, absolute or not: no control characters, whole escapes, no colon before the first slash but a scheme's. */
function isUrl(path: string): boolean {
  if (/[\u0000-\u001f\u007f]/.test(path) || path.startsWith(':')) return false;
  const end = path.search(/[?#]/);
  const beforeQuery = end < 0 ? path : path.slice(0, end);
  if (/%(?![0-9A-Fa-f]{2})/.test(beforeQuery)) return false;
  const slash = beforeQuery.indexOf('/');
  const firstSegment = slash < 0 ? beforeQuery : beforeQuery.slice(0, slash);
  return !firstSegment.includes(':') || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(firstSegment);
}

function timeProblem(check: ServiceCheck): string | undefined {
  if (check.Interval < secondNanos) return 'interval must be at least 1 second';
  return check.Timeout < secondNanos ? 'timeout must be at least 1 second' : undefined;
}

function modeProblem(check: ServiceCheck): string | undefined {
  const { InitialStatus, AddressMode, OnUpdate } = serviceCheckBlock.fields;
  return (
    (check.InitialStatus === '' ? undefined : choiceProblem('initial_status', InitialStatus, check.InitialStatus)) ??
    (check.AddressMode === '' ? undefined : choiceProblem('address_mode', AddressMode, check.AddressMode)) ??
    (check.OnUpdate === '' ? undefined : choiceProblem('on_update', OnUpdate, check.OnUpdate))
  );
}

/** A check that is ignored while a job is updated must not restart its task then. */
function restartProblem(check: ServiceCheck): string | undefined {
  const restart = check.CheckRestart;
  if (restart === null) return undefined;
  if (check.OnUpdate === 'ignore') return 'on_update ignore and check_restart cannot be combined';
  if (check.OnUpdate === 'ignore_warnings' && !restart.IgnoreWarnings) {
    return 'on_update ignore_warnings needs ignore_warnings = true in check_restart';
  }
  if (restart.Limit < 0) return 'the limit of check_restart must not be negative';
  return restart.Grace < 0 ? 'the grace of check_restart must not be negative' : undefined;
}

interface CheckOption {
  readonly name: string;
  readonly isUsed: (check: ServiceCheck) => boolean;
}

const notBuiltIn: readonly CheckOption[] = [
  { name: 'expose', isUsed: ({ Expose }) => Expose },
  { name: 'on_update ignore_warnings', isUsed: ({ OnUpdate }) => OnUpdate === 'ignore_warnings' },
  { name: 'success_before_passing', isUsed: ({ SuccessBeforePassing }) => SuccessBeforePassing > 0 },
  { name: 'failures_before_critical', isUsed: ({ FailuresBeforeCritical }) => FailuresBeforeCritical > 0 },
  { name: 'failures_before_warning', isUsed: ({ FailuresBeforeWarning }) => FailuresBeforeWarning > 0 },
  { name: 'tls_server_name', isUsed: ({ TLSServerName }) => TLSServerName !== '' },
  { name: 'address_mode driver', isUsed: ({ AddressMode }) => AddressMode === 'driver' },
  { name: 'check_restart ignore_warnings', isUsed: ({ CheckRestart }) => CheckRestart?.IgnoreWarnings === true },
];

/** The built-in service provider supports fewer kinds of checks. */
function builtInProblem(check: ServiceCheck): string | undefined {
  const used = notBuiltIn.find(({ isUsed }) => isUsed(check));
  if (used !== undefined) return `${used.name} is not available with the provider nomad`;
  if (check.Type.toLowerCase() === 'http' && check.Method !== '' && !isMethod(check.Method)) {
    return `unknown request method ${quoted(check.Method)}`;
  }
  return undefined;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE'];

function isMethod(text: string): boolean {
  return methods.includes(text.toUpperCase());
}

/** The thresholds are for checks that pass or fail by an answer. */
function catalogueProblem(check: ServiceCheck): string | undefined {
  const type = check.Type.toLowerCase();
  if (check.Expose && type !== 'http' && type !== 'grpc') return 'only http and grpc checks can be exposed';
  if (type !== 'script') return undefined;
  const thresholds: readonly (readonly [number, string])[] = [
    [check.SuccessBeforePassing, 'success_before_passing'],
    [check.FailuresBeforeCritical, 'failures_before_critical'],
    [check.FailuresBeforeWarning, 'failures_before_warning'],
  ];
  const used = thresholds.find(([threshold]) => threshold > 0);
  return used === undefined ? undefined : `${used[1]} is not available for a check of the type script`;
}
