import type { OptionKind } from '../../../src/options/check-options.js';
import { callable } from '../../../src/options/option-kinds.js';

/** The option kind of the handler that a bridge connects to a server. */
export const handlerKind: OptionKind = { ...callable, takes: 'a handler, made by createHttpHandler' };
