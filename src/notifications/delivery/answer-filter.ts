import type { Attempt } from './delivery.js';

/** Why a value names no answer. */
export const answerFault = 'The status must be an HTTP status code, a class such as 5xx, or none';

/**
 * Whether the last attempt of a delivery was answered so: with a status code, with one of a class such as `5xx`, or with `none`, a failure
 * without an answer. An absent one is any. Null for every other value.
 */
export function answeredAs(status: unknown): ((last: Attempt | undefined) => boolean) | null {
  if (status === undefined) return () => true;
  if (status === 'none') return (last) => last?.status === null && last.failure !== null;
  if (typeof status !== 'string' || !/^[1-5](?:\d\d|xx)$/.test(status)) return null;
  const [from, to] = status.endsWith('xx')
    ? [status.replace('xx', '00'), status.replace('xx', '99')]
    : [status, status];
  return (last) => typeof last?.status === 'number' && last.status >= Number(from) && last.status <= Number(to);
}
