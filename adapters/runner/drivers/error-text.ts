/** UTF-16 units of an error in the log of a task. */
const longestText = 16_384;
/** Causes of causes that are printed. */
const deepest = 8;
/** Errors of an `AggregateError` that are printed. */
const mostErrors = 8;
/** UTF-16 units of an error on one line. */
const longestLine = 300;

/**
 * What a function has thrown, for the log of its task: the stack, then the stacks of its causes. Other members of errors are left out:
 * libraries keep requests with their credentials there. `caller`: a stack of what called the function, whose frames explain nothing.
 */
export function errorText(thrown: unknown, caller = ''): string {
  const lines: string[] = [];
  addError(lines, thrown, { introduction: '', depth: 0, known: new Set(framesOf(caller)) });
  const text = lines.join('\n');
  return text.length > longestText ? `${text.slice(0, longestText)}\n…` : text;
}

/** Its message alone. */
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
  /** Of the chain of causes. */
  readonly depth: number;
  /** Frames that are left out at the end of its stack. */
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

/** At least the first frame stays. */
function withoutFrames(text: string, known: ReadonlySet<string>): string {
  const lines = text.split('\n');
  const first = lines.findIndex(isFrame);
  while (first >= 0 && lines.length > first + 1 && known.has(lines.at(-1) ?? '')) lines.pop();
  return lines.join('\n');
}

/** The stack begins with the message, unless that was changed afterwards. */
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

/** What a function throws may be anything, such as an object whose members throw. */
function guarded(read: () => string): string {
  try {
    return read();
  } catch {
    return 'an error that cannot be printed';
  }
}
