/** What the operating system says when it lacks something now that it may have in a moment. */
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

/** A fault of this kind, where the system did not say which. */
export function lackOf(message: string): Error {
  return Object.assign(new Error(message), { code: 'EAGAIN' });
}

/** What a thrown value says, in one line of a bearable length. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : safeText(error);
  return text.length > 1024 ? `${text.slice(0, 1024)}…` : text;
}

function safeText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'something that cannot be printed was thrown';
  }
}
