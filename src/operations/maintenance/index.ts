import type { BackgroundLoop } from '../context/engine-context.js';
import { collectionLoop } from './collection-loop.js';

export { collectGarbage } from './collect-garbage.js';
export { reconcileSummaries } from './reconcile-summaries.js';

/** The background loops of this area. */
export const maintenanceLoops: readonly BackgroundLoop[] = [collectionLoop];
