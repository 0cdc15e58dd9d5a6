import type { ResultAsync } from 'neverthrow';

/** One e-mail, ready to be sent. */
export interface MailMessage {
  /** One address; each recipient gets a separate message. */
  readonly to: string;
  /** One line: the adapter replaces line breaks. */
  readonly subject: string;
  /** The body as plain text. */
  readonly text: string;
  /** The same body as HTML; both are sent as alternatives. */
  readonly html: string;
  /** Further headers, for example message-id, references, auto-submitted. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The mail server has not accepted the message. */
export interface MailError {
  readonly type: 'mail_rejected' | 'mail_unavailable';
  /** Holds no credentials. `mail_rejected` is permanent (SMTP 5xx), `mail_unavailable` may be temporary. */
  readonly message: string;
}

/** Sends e-mail. */
export interface Mailer {
  /** Resolves with the Message-ID when the mail server has accepted the message. */
  send(message: MailMessage): ResultAsync<{ readonly messageId: string }, MailError>;
  /** Closes the connections to the mail server; later calls of `send` fail with `mail_unavailable`. */
  close(): Promise<void>;
}
