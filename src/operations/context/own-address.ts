import type { EngineContext } from './engine-context.js';

/** Where this server says that it is. */
export const datacenter = 'dc1';

/** Host and port by which others reach this server. */
export function ownAddress({ settings }: EngineContext): string {
  const { publicOrigin } = settings.notifications;
  return URL.canParse(publicOrigin) ? new URL(publicOrigin).host : 'localhost';
}
