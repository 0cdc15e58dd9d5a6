import type { OptionKind } from '../../../src/options/check-options.js';
import { callable } from '../../../src/options/option-kinds.js';

/** What a bridge carries to a server. */
export const handlerKind: OptionKind = { ...callable, takes: 'a handler, made by createHttpHandler' };
