/** Why a template is invalid or cannot be rendered. */
export interface TemplateFault {
  readonly type: 'template_fault';
  readonly message: string;
  /** Both from 1; columns count characters. */
  readonly line: number;
  readonly column: number;
}

/** A fault with its offset in the template, before line and column are computed. */
export interface FaultAt {
  readonly offset: number;
  readonly message: string;
}
