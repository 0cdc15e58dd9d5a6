import { describe } from 'vitest';
import { expectErrors, expectValues } from '../evaluated.js';

describe('address functions', () => {
  expectValues([
    ['cidrhost("10.1.2.3/8", 5)', '"10.0.0.5"'],
    ['cidrhost("10.0.0.0/30", -1)', '"10.0.0.3"'],
    ['cidrhost("fd00:1::/64", 65536)', '"fd00:1::1:0"'],
    ['cidrhost("::/0", -1)', '"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"'],
    ['cidrhost("10.0.0.9/32", 0)', '"10.0.0.9"'],
    ['cidrnetmask("10.0.0.0/12")', '"255.240.0.0"'],
    ['cidrnetmask("0.0.0.0/0")', '"0.0.0.0"'],
    ['cidrnetmask("fd00::/48")', '"ffff:ffff:ffff::"'],
    ['cidrsubnet("172.16.0.0/12", 4, 2)', '"172.18.0.0/16"'],
    ['cidrsubnet("fd00:fd12:3456:7890::/56", 16, 162)', '"fd00:fd12:3456:7800:a200::/72"'],
    ['cidrsubnet("10.0.0.0/8", 0, 0)', '"10.0.0.0/8"'],
    [
      'cidrsubnets("10.1.0.0/16", 4, 4, 8, 4)',
      '["10.1.0.0/20","10.1.16.0/20","10.1.32.0/24","10.1.48.0/20"]',
      'list of string',
    ],
    ['cidrsubnets("fd00::/48", 16)', '["fd00::/64"]'],
  ]);
  expectErrors([
    'cidrhost("10.0.0.0/30", 4)',
    'cidrhost("10.0.0.0/30", -5)',
    'cidrhost("10.0.0.0/30", 1.5)',
    'cidrhost("10.0.0.0", 1)',
    'cidrhost("10.0.0.00/8", 1)',
    'cidrhost("10.0.0.256/8", 1)',
    'cidrhost("10.0.0.0/33", 1)',
    'cidrhost("1::2::3/64", 1)',
    'cidrhost("1:2:3/64", 1)',
    'cidrsubnet("10.0.0.0/8", 25, 0)',
    'cidrsubnet("10.0.0.0/8", 2, 4)',
    'cidrsubnet("10.0.0.0/8", 2, -1)',
    'cidrsubnet("fd00::/8", 33, 0)',
    'cidrsubnets("10.0.0.0/30", 1, 1, 1)',
    'cidrsubnets("10.0.0.0/30", 0)',
    'cidrsubnets("10.0.0.0/8", 33)',
  ]);
});
