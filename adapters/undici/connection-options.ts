import type { OptionTable } from '../../src/options/check-options.js';
import { amount, callable, either, flag, group, listOf, optional, text } from '../../src/options/option-kinds.js';
import type { AllowedDestinations } from './outbound-guard.js';
import type { ProxySettings } from './outbound-proxy.js';

type ConnectionSetting = 'allow' | 'forbiddenPorts' | 'httpsOnly' | 'ca' | 'lookup' | 'proxy' | 'hint';

/** The connection options of all clients. */
export const connectionTable: OptionTable<Record<ConnectionSetting, unknown>> = {
  allow: optional(group<AllowedDestinations>({ cidrs: optional(listOf(text)), hosts: optional(listOf(text)) })),
  forbiddenPorts: optional(listOf(amount)),
  httpsOnly: optional(flag),
  ca: optional(either(text, listOf(text))),
  lookup: optional(callable),
  proxy: optional(group<ProxySettings>({ url: text, except: optional(listOf(text)) })),
  hint: optional(text),
};
