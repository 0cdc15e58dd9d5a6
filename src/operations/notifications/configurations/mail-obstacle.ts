import type { EngineContext } from '../../context/engine-context.js';

/**
 * Why e-mail configurations cannot be enabled; null when they can. With HCP Terraform's names they always can, as existing
 * clients expect: their deliveries then fail with `mail_unavailable`, which the log shows.
 */
export function mailObstacle({ mailer, settings }: EngineContext): string | null {
  if (mailer !== undefined || settings.notifications.names === 'upstream') return null;
  return settings.notifications.hints.mailer;
}
