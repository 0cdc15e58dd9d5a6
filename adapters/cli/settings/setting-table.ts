import { engineSettings } from './engine-settings.js';
import { nodeSettings } from './node-settings.js';
import { processSettings } from './process-settings.js';
import type { Setting } from './setting.js';

/** Every setting, in the order of the help. */
export const settingTable: readonly Setting[] = [...processSettings, ...nodeSettings, ...engineSettings];
