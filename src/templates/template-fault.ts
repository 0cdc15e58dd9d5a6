/** Why a template is none, or why it cannot be rendered. */
export interface TemplateFault {
  readonly type: 'template_fault';
  readonly message: string;
  /** Both from 1; a column is a character. */
  readonly line: number;
  readonly column: number;
}

/** A fault before its offset in the text became a line and a column. */
export interface FaultAt {
  readonly offset: number;
  readonly message: string;
}
