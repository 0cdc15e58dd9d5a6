import type { Client } from 'signalbox/client';

/* What calls about notifications answer and take, for rules that are used without a browser. */

type Answer<M> = M extends (...args: never[]) => infer R
  ? Extract<Awaited<R>, { readonly value: unknown }>['value']
  : never;
type Arguments<M> = M extends (...args: infer A) => unknown ? A : never;

export type ConfigurationView = Answer<Client['notifications']['create']>;
export type DeliverySummary = Answer<Client['deliveries']['redeliver']>;
export type DeliveryDetails = Answer<Client['deliveries']['show']>;
export type BulkRedeliverySpan = Arguments<Client['recoveries']['start']>[1];
