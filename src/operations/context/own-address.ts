import type { EngineContext } from './engine-context.js';

/** The datacenter that this server reports for itself. */
export const datacenter = 'dc1';

/** Host and port by which others reach this server. */
export function ownAddress({ settings }: EngineContext): string {
  const { publicOrigin } = settings.notifications;
  return URL.canParse(publicOrigin) ? new URL(publicOrigin).host : 'localhost';
}
