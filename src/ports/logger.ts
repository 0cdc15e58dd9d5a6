/** Structurally a pino logger. Fields never hold secrets. */
export interface Logger {
  /** What helps to understand one decision. */
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** What an operator may want to know later. */
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** What may need attention, though work continues. */
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** What failed. */
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
