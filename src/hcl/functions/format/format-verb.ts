/** One `%…` sequence. Width and precision are undefined when not given. */
export interface Verb {
  readonly raw: string;
  readonly letter: string;
  readonly plus: boolean;
  readonly minus: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  readonly sharp: boolean;
  readonly width: number | undefined;
  readonly precision: number | undefined;
}
