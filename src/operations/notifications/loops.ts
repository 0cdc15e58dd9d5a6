import type { BackgroundLoop } from '../shared/context.js';
import { deliveryLoop } from './delivery-loop.js';
import { retentionLoop } from './retention-loop.js';

/** Every background loop of this area. */
export const notificationLoops: readonly BackgroundLoop[] = [deliveryLoop, retentionLoop];
