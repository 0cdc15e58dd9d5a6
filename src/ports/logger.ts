/** A pino logger fits. Fields never hold secrets. */
export interface Logger {
  /** Details of single decisions. */
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** Events an operator may want to know later. */
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** Conditions that may need attention; work continues. */
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** Failures. */
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
