import type { BackgroundLoop } from '../context/engine-context.js';
import { periodicLaunchLoop } from './launch-loop.js';

export { type ForcedLaunch, forceLaunch } from './force-launch.js';

/** The background loops of this area. */
export const periodicLoops: readonly BackgroundLoop[] = [periodicLaunchLoop];
