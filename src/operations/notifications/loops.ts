import type { BackgroundLoop } from '../context/engine-context.js';
import { deliveryLoop } from './delivery/delivery-loop.js';
import { recoveryLoop } from './log/recovery-loop.js';
import { retentionLoop } from './log/retention-loop.js';

/** Every background loop of this area. */
export const notificationLoops: readonly BackgroundLoop[] = [deliveryLoop, recoveryLoop, retentionLoop];
