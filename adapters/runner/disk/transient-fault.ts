/** Error codes of temporary shortages. */
const transient: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EAGAIN',
  'EBUSY',
  'EIO',
  'EINTR',
]);

/** Disk full, no file handles, no memory: temporary shortages, worth another try. */
export function isTransientFault(error: unknown): boolean {
  return typeof error === 'object' && error !== null && transient.has(String((error as NodeJS.ErrnoException).code));
}

/** A fault of this kind, for cases without a system error code. */
export function lackOf(message: string): Error {
  return Object.assign(new Error(message), { code: 'EAGAIN' });
}

/** The message of a thrown value, in one line of limited length. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : safeText(error);
  return text.length > 1024 ? `${text.slice(0, 1024)}…` : text;
}

function safeText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'a thrown value that cannot be printed';
  }
}
