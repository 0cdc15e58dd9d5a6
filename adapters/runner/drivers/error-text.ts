/** The most UTF-16 units of an error in the log of a task. */
const longestText = 16_384;
/** The longest chain of causes that is printed. */
const deepest = 8;
/** The most errors of an `AggregateError` that are printed. */
const mostErrors = 8;
/** The most UTF-16 units of an error on one line. */
const longestLine = 300;

/**
 * Formats a thrown value for the log of its task: the stack, then the stacks of its causes. Other properties of errors are left out:
 * libraries keep requests with credentials there. `caller`: the stack of the function's caller, whose frames are cut off.
 */
export function errorText(thrown: unknown, caller = ''): string {
  const lines: string[] = [];
  addError(lines, thrown, { introduction: '', depth: 0, known: new Set(framesOf(caller)) });
  const text = lines.join('\n');
  return text.length > longestText ? `${text.slice(0, longestText)}\n…` : text;
}

/** Only its message. */
export function errorMessage(thrown: unknown): string {
  return guarded(() => (isErrorLike(thrown) ? String(thrown.message) : String(thrown)));
}

/** Its kind and message on one line, for the log of the engine. */
export function errorLine(thrown: unknown): string {
  const name = guarded(() => (isErrorLike(thrown) && typeof thrown.name === 'string' ? thrown.name : ''));
  const message = errorMessage(thrown);
  const line = (name === '' || name === 'Error' ? message : `${name}: ${message}`)
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

interface PrintedError {
  readonly introduction: string;
  /** Its depth in the chain of causes. */
  readonly depth: number;
  /** Frames to cut off at the end of its stack. */
  readonly known: ReadonlySet<string>;
}

function addError(lines: string[], thrown: unknown, { introduction, depth, known }: PrintedError): void {
  const text = guarded(() => ownText(thrown));
  lines.push(introduction + withoutFrames(text, known));
  if (depth >= deepest || !isErrorLike(thrown)) return;
  const below = { depth: depth + 1, known: new Set([...known, ...framesOf(text)]) };
  const { errors, cause } = guardedParts(thrown);
  for (const [at, error] of errors.slice(0, mostErrors).entries()) {
    addError(lines, error, { introduction: `Error ${at + 1} of ${errors.length}: `, ...below });
  }
  if (cause !== undefined) addError(lines, cause, { introduction: 'Caused by: ', ...below });
}

const isFrame = (line: string): boolean => /^\s+at /.test(line);

function framesOf(stack: string): string[] {
  return stack.split('\n').filter(isFrame);
}

/** Keeps at least the first frame. */
function withoutFrames(text: string, known: ReadonlySet<string>): string {
  const lines = text.split('\n');
  const first = lines.findIndex(isFrame);
  while (first >= 0 && lines.length > first + 1 && known.has(lines.at(-1) ?? '')) lines.pop();
  return lines.join('\n');
}

/** The stack begins with the message unless the message was changed later. */
function ownText(thrown: unknown): string {
  if (!isErrorLike(thrown)) return String(thrown);
  const message = String(thrown.message);
  const stack = typeof thrown.stack === 'string' ? thrown.stack : '';
  if (stack.includes(message) && stack !== '') return stack;
  return stack === '' ? `${String(thrown.name)}: ${message}` : `${String(thrown.name)}: ${message}\n${stack}`;
}

interface ErrorLike {
  readonly name: unknown;
  readonly message: unknown;
  readonly stack?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** Errors of other realms, such as those of `node:vm` and of test runners, too. */
function isErrorLike(thrown: unknown): thrown is ErrorLike {
  return typeof thrown === 'object' && thrown !== null && (thrown instanceof Error || 'stack' in thrown);
}

function guardedParts(error: ErrorLike): { readonly errors: readonly unknown[]; readonly cause: unknown } {
  try {
    return { errors: Array.isArray(error.errors) ? error.errors : [], cause: error.cause };
  } catch {
    return { errors: [], cause: undefined };
  }
}

/** A function may throw anything, even an object with throwing getters. */
function guarded(read: () => string): string {
  try {
    return read();
  } catch {
    return 'an error that cannot be printed';
  }
}
