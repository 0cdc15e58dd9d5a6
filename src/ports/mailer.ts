import type { ResultAsync } from 'neverthrow';

/** One e-mail, ready to be sent. */
export interface MailMessage {
  /** One address; a message to several people is several messages. */
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

/** The mail server has not taken the message. */
export interface MailError {
  readonly type: 'mail_rejected' | 'mail_unavailable';
  /** Holds no credentials. `mail_rejected` is permanent (5xx of SMTP), `mail_unavailable` may pass. */
  readonly message: string;
}

/** Sends e-mail. */
export interface Mailer {
  /** Resolves when the mail server has taken the message, with the Message-ID that it was given. */
  send(message: MailMessage): ResultAsync<{ readonly messageId: string }, MailError>;
  /** Closes the connections to the mail server; later calls of `send` fail with `mail_unavailable`. */
  close(): Promise<void>;
}
