/** The operation was not stored, because its transaction was refused for another reason: the `cause`. */
export class NotCommittedError extends Error {
  override readonly name = 'NotCommittedError';
  /** The tag of the error. */
  readonly type = 'not_committed';

  constructor(cause: unknown) {
    super(`nothing of the transaction was stored: ${messageOf(cause)}`, { cause });
  }
}

function messageOf(error: unknown): string {
  const { message, type } = (error ?? {}) as { readonly message?: unknown; readonly type?: unknown };
  if (typeof message === 'string') return message;
  return typeof type === 'string' ? type.replaceAll('_', ' ') : 'an exception';
}
