import { inLines } from './output/tables.js';

/** A command failed. The message is for the user at the terminal. */
export class Stopped extends Error {
  readonly exitCode: number;

  /** The message may contain untrusted strings: control characters in it are escaped. */
  constructor(message: string, exitCode = 1) {
    super(inLines(message));
    this.exitCode = exitCode;
  }
}

/** `Stopped` with a coloured message, in which untrusted strings are already escaped. */
export class StoppedInColour extends Stopped {
  constructor(message: string) {
    super('');
    this.message = message;
  }
}
