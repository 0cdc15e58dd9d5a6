export { type SmtpMailerSettings, smtpMailer } from './smtp-mailer.js';
