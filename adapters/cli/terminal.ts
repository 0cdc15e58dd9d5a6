/** What a command needs of the process that runs it; tests give their own. */
export interface Terminal {
  out(text: string): void;
  error(text: string): void;
  /** Whether errors may be coloured. */
  readonly colours: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The terminal of this process. `NO_COLOR` and `FORCE_COLOR` are respected. */
export function processTerminal(): Terminal {
  const environment = process.env;
  const forced = environment['FORCE_COLOR'];
  return {
    out: (text) => process.stdout.write(text),
    error: (text) => process.stderr.write(text),
    colours:
      (environment['NO_COLOR'] ?? '') === '' && (forced !== undefined ? forced !== '0' : process.stderr.isTTY === true),
    environment,
  };
}
