import { bytesText, counted } from './durations.js';

/** Bytes of input that wait for the connection, at most. */
export const mostInput = 1_048_576;
/** Bytes in one message. */
const mostInMessage = 65_536;

/** What a command is sent of its input: bytes, or that there are no more. */
export type InputPart = Uint8Array | 'end';

/** Input of a command that the connection has not taken yet: in its order, in parts of a bounded size, and bounded as a whole. */
export class TerminalInput {
  readonly #waiting: InputPart[] = [];
  #bytes = 0;

  /** Why input of this size is not taken now; undefined if it is. */
  refusalOf(bytes: number): string | undefined {
    if (bytes > mostInput)
      return `Not sent: ${counted(bytes, 'byte')} at once are more than the ${bytesText(mostInput)} that can be typed or pasted.`;
    return this.#bytes + bytes > mostInput
      ? 'Not sent: the command does not read its input, and too much of it waits already.'
      : undefined;
  }

  add(input: Uint8Array): void {
    for (let at = 0; at < input.length; at += mostInMessage) this.#waiting.push(input.subarray(at, at + mostInMessage));
    this.#bytes += input.length;
  }

  end(): void {
    this.#waiting.push('end');
  }

  /** The next part, which does not wait any more. */
  next(): InputPart | undefined {
    const part = this.#waiting.shift();
    if (part !== undefined && part !== 'end') this.#bytes -= part.length;
    return part;
  }
}
