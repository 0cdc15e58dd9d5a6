import { expect, it } from 'vitest';
import { processSecrets } from '../../../adapters/runner/allocation/task-performer.js';

it.each<[name: string, value: string, secrets: readonly string[]]>([
  ['SIGNALBOX_TOKEN', 'abcdefgh-token', ['abcdefgh-token']],
  ['DB_PASSWORD', 'correct horse', ['correct horse']],
  ['AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMI', ['wJalrXUtnFEMI']],
  ['STRIPE_API_KEY', 'sk_live_12345', ['sk_live_12345']],
  ['stripeKey_secret', 'sk_live_12345', ['sk_live_12345']],
  ['DATABASE_URL', 'postgres://app:p%40ssw0rd!@db/app', ['p%40ssw0rd!', 'p@ssw0rd!']],
  ['BROKEN_URL', 'postgres://app:%zz345678@db/app', ['%zz345678']],
  ['DATABASE_URL', 'postgres://db/app', []],
  ['SIGNALBOX_TOKEN_FILE', '/etc/signalbox/token', []],
  ['AWS_ACCESS_KEY_ID', 'AKIAIOSFODNN7EXAMPLE', []],
  ['TOKEN', 'short', []],
  ['PWD', '/home/operator/service', []],
  ['KEYBOARD', 'qwertz-layout', []],
  ['PATH', '/usr/local/bin:/usr/bin', []],
])('%s=%s', (name, value, secrets) => {
  expect(processSecrets({ [name]: value, HOME: '/home/operator' })).toEqual(secrets);
});
