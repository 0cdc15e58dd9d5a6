import { hasLoneSurrogate, quoted } from '../../shared/values.js';
import { byteLength, type Report } from './problems.js';

/**
 * The endings of paths below `/v1/job/` that name an operation (job interface, routing). A job whose ID ends in one could not
 * be addressed: the path would be taken for the operation on another job.
 */
export const operationSuffixes: readonly string[] = [
  'evaluate',
  'allocations',
  'evaluations',
  'periodic/force',
  'plan',
  'summary',
  'dispatch',
  'dispatch/payload',
  'versions',
  'revert',
  'deployments',
  'deployment',
  'stable',
  'scale',
  'services',
  'submission',
  'actions',
  'action',
  'tag',
];

/** The maximum length of an ID as written in a path, in bytes; servers and clients truncate much longer paths. */
const maximumIdLength = 8_000;

/** An ID may be any string that a path of the interface can name. */
export function validateJobId(id: string, report: Report): void {
  const problem = jobIdProblem(id);
  if (problem !== undefined) report(problem);
}

export function jobIdProblem(id: string): string | undefined {
  if (id === '') return 'the job has no ID';
  if (id.includes(' ')) return 'the job ID must not contain a space';
  if (id.includes('\0')) return 'the job ID must not contain NUL';
  return unreachable(id);
}

/** Why the ID cannot be written in a path. */
export function unreachable(id: string): string | undefined {
  if (hasLoneSurrogate(id)) return 'the job ID contains half of a surrogate pair, which no path can carry';
  // A UTF-16 unit takes at most nine characters in a path.
  if (
    id.length * 9 > maximumIdLength &&
    (id.length > maximumIdLength || encodeURIComponent(id).length > maximumIdLength)
  ) {
    return `the job ID is longer than ${maximumIdLength} bytes as written in a path`;
  }
  if (id.includes('.') && id.split('/').some((part) => part === '.' || part === '..')) {
    return 'a part of the job ID is "." or "..", which clients remove from paths';
  }
  const suffix = id.includes('/') ? operationSuffixes.find((name) => id.endsWith(`/${name}`)) : undefined;
  if (suffix === undefined) return undefined;
  return `the job ID ends in ${quoted(`/${suffix}`)}, so its path would be read as an operation on another job`;
}

/** Bytes of the name of a group or task: it becomes part of file names, which have 255. */
const maximumNameLength = 128;

/** The name of a group. */
export function validateName(name: string, report: Report): void {
  if (name === '') report('a name is required');
  else validateFileName(name, report);
}

export function validateTaskName(name: string, report: Report): void {
  if (name === '') report('a name is required');
  // The shared directory of an allocation has this name.
  else if (name === 'alloc') report('the name "alloc" is taken');
  else if (/[/\\]/.test(name)) report('the name must not contain a slash or a backslash');
  else validateFileName(name, report);
}

function validateFileName(name: string, report: Report): void {
  if (name.includes('\0')) report('the name must not contain NUL');
  else if (name === '.' || name === '..') report(`the name must not be ${quoted(name)}`);
  else if (hasLoneSurrogate(name)) report('the name contains half of a surrogate pair');
  else if (name.length > maximumNameLength || byteLength(name) > maximumNameLength) {
    report(`the name must not be longer than ${maximumNameLength} bytes`);
  }
}
