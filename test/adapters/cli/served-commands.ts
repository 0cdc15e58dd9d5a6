import { afterAll, beforeAll } from 'vitest';
import { type Client, connect } from '../../../src/client/index.js';
import { endAll, signalbox } from './cli-process.js';
import { type Given, type Printed, typed } from './typed-commands.js';

/** A server that is open to everybody, and commands that talk to it. Members may be read when the tests have begun. */
export interface ServedCommands {
  readonly origin: string;
  readonly box: Client;
  /** Runs one command line. */
  run(...words: readonly string[]): Promise<Printed>;
  /** Runs one command line with files, input and the like. */
  given(given: Given, ...words: readonly string[]): Promise<Printed>;
}

/** Starts the server before the tests of a file, with further options of `serve`; ends it, with everything that was started, after them. */
export function servedCommands(...options: readonly string[]): ServedCommands {
  let origin = '';
  let box: Client | undefined;
  beforeAll(async () => {
    origin = await signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'open', ...options]).origin();
    box = connect({ url: origin });
  });
  afterAll(endAll);
  return {
    get origin() {
      return origin;
    },
    get box() {
      if (box === undefined) throw new Error('the server has not started yet');
      return box;
    },
    run: (...words) => typed(origin, {}, ...words),
    given: (given, ...words) => typed(origin, given, ...words),
  };
}
