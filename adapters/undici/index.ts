export type { Resolver } from './guarded-connector.js';
export { type AllowedDestinations, type OutboundGuard, outboundGuard } from './outbound-guard.js';
export { type UndiciDeliverySettings, undiciDelivery } from './undici-delivery.js';
