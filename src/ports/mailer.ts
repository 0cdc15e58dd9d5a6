import type { ResultAsync } from 'neverthrow';

/** One e-mail, ready to be sent. */
export interface MailMessage {
  /** One address; a message to several people is several messages. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
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
  send(message: MailMessage): ResultAsync<{ readonly messageId: string }, MailError>;
  close(): Promise<void>;
}
