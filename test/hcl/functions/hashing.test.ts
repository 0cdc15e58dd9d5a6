import { constants, createPrivateKey, generateKeyPairSync, publicEncrypt, randomUUID } from 'node:crypto';
import { compareSync } from 'bcryptjs';
import { describe, expect, it } from 'vitest';
import { evaluateExpression } from '../../../src/hcl/evaluate/evaluate-expression.js';
import { stringValue } from '../../../src/hcl/values/value.js';
import { expectErrors, expectValues } from './evaluated.js';

describe('hashes', () => {
  expectValues([
    ['md5("")', '"d41d8cd98f00b204e9800998ecf8427e"'],
    ['sha1("a")', '"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"'],
    ['sha256("é")', '"4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"'],
    ['strlen(sha512("a"))', '128'],
    ['uuidv5("dns", "example.com")', '"cfbff0d1-9375-5685-968c-48ce8b15ae17"'],
    ['uuidv5("{6BA7B810-9DAD-11D1-80B4-00C04FD430C8}", "example.com")', '"cfbff0d1-9375-5685-968c-48ce8b15ae17"'],
    ['substr(bcrypt("x", 4), 0, 7)', '"$2a$04$"'],
    ['substr(bcrypt("x", 1), 0, 7)', '"$2a$10$"'],
  ]);
  expectErrors([
    'uuidv5("bogus", "a")',
    'bcrypt("x", 11)',
    'bcrypt("x", 4, 5)',
    'bcrypt(join("", [for i in range(73): "a"]), 4)',
    'rsadecrypt("?", "key")',
    'rsadecrypt("aGk=", "no key")',
  ]);

  it('bcrypt makes hashes that check, each with a salt of its own', () => {
    const hashes = evaluateExpression('[bcrypt("hello wörld", 4), bcrypt("", 5), bcrypt("hello wörld", 4)]', {
      ids: { next: () => randomUUID() },
    });
    const [first = '', empty = '', second = ''] = JSON.parse(hashes._unsafeUnwrap().text) as string[];
    expect(first).toMatch(/^\$2a\$04\$[./A-Za-z0-9]{53}$/);
    expect(compareSync('hello wörld', first)).toBe(true);
    expect(compareSync('hello world', first)).toBe(false);
    expect(compareSync('', empty)).toBe(true);
    expect(second).not.toBe(first);
  });

  it('rsadecrypt refuses keys that would take long, and ones behind a passphrase', () => {
    const error = (key: string) => {
      const names = new Map([['key', stringValue(key)]]);
      return evaluateExpression('rsadecrypt("aGk=", key)', { names })._unsafeUnwrapErr()[0]?.message;
    };
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const jwk = privateKey.export({ format: 'jwk' });
    const slow = createPrivateKey({ key: { ...jwk, e: 'f'.repeat(400) }, format: 'jwk' });
    expect(error(slow.export({ type: 'pkcs1', format: 'pem' }).toString())).toMatch(/small public exponent/);
    expect(error('x'.repeat(5_000))).toMatch(/at most 4096 bits/);
    const locked = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
    expect(error(locked.toString())).toMatch(/without a passphrase/);
  });

  it('rsadecrypt takes off the padding of PKCS #1 v1.5', () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const ciphertext = publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_PADDING }, Buffer.from('sécret'));
    const names = new Map([
      ['text', stringValue(ciphertext.toString('base64'))],
      ['key', stringValue(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())],
    ]);
    expect(evaluateExpression('rsadecrypt(text, key)', { names })._unsafeUnwrap().text).toBe('"sécret"');
  });
});

describe('random functions', () => {
  it('take new identifiers from the caller', () => {
    let made = 0;
    const ids = {
      next: () => {
        made += 1;
        return `id-${made}`;
      },
    };
    expect(evaluateExpression('[uuidv4(), uuidv4()]', { ids })._unsafeUnwrap().text).toBe('["id-1","id-2"]');
    const hashes = evaluateExpression('distinct([bcrypt("a", 4), bcrypt("a", 4)])', { ids })._unsafeUnwrap();
    expect(JSON.parse(hashes.text)).toHaveLength(2);
  });
});
