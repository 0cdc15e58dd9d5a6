export {
  type NameResolverSettings,
  nameResolver,
  type ResolvedAddress,
  type ResolveOptions,
  type Resolver,
} from './name-resolver.js';
export { type AllowedDestinations, type OutboundGuard, outboundGuard } from './outbound-guard.js';
export type { ProxySettings } from './outbound-proxy.js';
export { type UndiciDeliverySettings, undiciDelivery } from './undici-delivery.js';
export { type UndiciDownloadSettings, undiciDownload } from './undici-download.js';
