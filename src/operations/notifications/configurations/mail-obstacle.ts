import type { EngineContext } from '../../context/engine-context.js';

/**
 * The reason why e-mail configurations cannot be enabled, or null. With HCP Terraform's names they can always be enabled, as existing
 * clients expect: without a mailer, their deliveries fail with `mail_unavailable`.
 */
export function mailObstacle({ mailer, settings }: EngineContext): string | null {
  if (mailer !== undefined || settings.notifications.names === 'upstream') return null;
  return settings.notifications.hints.mailer;
}
