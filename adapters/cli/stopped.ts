import { inLines } from './output/cells.js';

/** Why a command ends without having done its work. The message is for the person at the terminal. */
export class Stopped extends Error {
  readonly exitCode: number;

  /** The message may name what comes from elsewhere: control characters in it are shown as escapes. */
  constructor(message: string, exitCode = 1) {
    super(inLines(message));
    this.exitCode = exitCode;
  }
}

/** `Stopped` with a message that is coloured, and holds nothing from elsewhere that a terminal would obey. */
export class StoppedInColour extends Stopped {
  constructor(message: string) {
    super('');
    this.message = message;
  }
}
