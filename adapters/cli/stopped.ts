/** Why a command ends without having done its work. The message is for the person at the terminal. */
export class Stopped extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
