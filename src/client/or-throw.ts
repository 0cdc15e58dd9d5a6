import type { Result, ResultAsync } from 'neverthrow';

/** An error value as an exception. The value is the `cause`, and `type` is its tag. */
export class SignalboxError extends Error {
  override readonly name = 'SignalboxError';
  /** The tag of the error, such as `job_not_found`. */
  readonly type: string;

  constructor(error: { readonly type: string }) {
    super(messageOf(error), { cause: error });
    this.type = error.type;
  }
}

/**
 * Returns the value of a result, or throws a `SignalboxError`. For programs that can
 * only report an error: `await orThrow(box.jobs.register(job))`.
 */
export function orThrow<T, E extends { readonly type: string }>(result: ResultAsync<T, E>): Promise<T>;
/** The same for a result that is already available: returns the value or throws synchronously. */
export function orThrow<T, E extends { readonly type: string }>(result: Result<T, E>): T;
export function orThrow<T, E extends { readonly type: string }>(
  result: Result<T, E> | ResultAsync<T, E>,
): T | Promise<T> {
  return 'then' in result ? Promise.resolve(result).then(unwrap) : unwrap(result);
}

function unwrap<T, E extends { readonly type: string }>(result: Result<T, E>): T {
  if (result.isOk()) return result.value;
  throw new SignalboxError(result.error);
}

/** The message of an error; otherwise the messages of its attribute faults, the missing object, or the type. */
function messageOf(error: { readonly type: string }): string {
  const { message, faults, resource, id } = error as Readonly<Record<string, unknown>>;
  if (typeof message === 'string' && message !== '') return message;
  if (Array.isArray(faults)) {
    const texts = faults.map((fault: { pointer: string; message: string }) => `${fault.pointer}: ${fault.message}`);
    if (texts.length > 0) return texts.join('; ');
  }
  if (error.type === 'not_found' && typeof resource === 'string' && typeof id === 'string') {
    return `there is no ${resource.replaceAll('_', ' ')} ${id}, or the caller may not see it`;
  }
  return error.type.replaceAll('_', ' ');
}
