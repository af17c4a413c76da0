// Makes thumbhash/: hashes by the first implementation of ThumbHash, in JavaScript, and the pictures that it makes of
// some of them. README.md says what the files are.
//
//     node make_thumbhashes.mjs THUMBHASH.mjs: js/thumbhash.js of https://github.com/evanw/thumbhash, by that name
import fs from 'node:fs'
import path from 'node:path'

const { rgbaToThumbHash, thumbHashToRGBA } = await import(path.resolve(process.argv[2]))
const folder = path.dirname(new URL(import.meta.url).pathname)

// A PAM file: lines of text, then RGBA.
function readPAM(file) {
  const bytes = fs.readFileSync(file)
  const end = bytes.indexOf('ENDHDR\n')
  const head = bytes.subarray(0, end).toString().split(/\s+/)
  const number = name => Number(head[head.indexOf(name) + 1])
  return [number('WIDTH'), number('HEIGHT'), bytes.subarray(end + 7)]
}

// A picture of slopes that differ in every channel: ThumbHashTests.swift makes the same one.
function slopes(w, h, hasAlpha) {
  const rgba = []
  for (let y = 0; y < h; y++)
    for (let x = 0; x < w; x++)
      rgba.push((x * 255 / w | 0) ^ (y & 1), (y * 200 / h | 0) + 40, (x * y * 3 + w) & 255,
        hasAlpha ? ((x + 2 * y) * 255 / (w + 2 * h) | 0) : 255)
  return [w, h, rgba]
}

const hex = bytes => Buffer.from(bytes).toString('hex')
const lines = []
for (const part of ['jpeg', 'png', 'encoded'])
  for (const name of fs.readdirSync(path.join(folder, part)).filter(name => name.endsWith('.pam')).sort())
    lines.push(`${part}/${name} ${hex(rgbaToThumbHash(...readPAM(path.join(folder, part, name))))}`)
for (const [w, h] of [[100, 100], [100, 37], [23, 64], [100, 8], [9, 100], [100, 1], [1, 100], [2, 2], [3, 1], [1, 1]])
  for (const hasAlpha of [false, true])
    lines.push(`slopes-${w}-${h}-${hasAlpha ? 'alpha' : 'opaque'} ${hex(rgbaToThumbHash(...slopes(w, h, hasAlpha)))}`)

const made = path.join(folder, 'thumbhash')
fs.mkdirSync(made, { recursive: true })
fs.writeFileSync(path.join(made, 'hashes.txt'), lines.join('\n') + '\n')
for (const name of ['slopes-100-37-opaque', 'slopes-100-37-alpha', 'slopes-23-64-opaque', 'slopes-9-100-alpha',
  'slopes-100-100-opaque']) {
  const hash = lines.find(line => line.startsWith(name + ' ')).split(' ')[1]
  const { w, h, rgba } = thumbHashToRGBA(Buffer.from(hash, 'hex'))
  const head = `P7\nWIDTH ${w}\nHEIGHT ${h}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n`
  fs.writeFileSync(path.join(made, `${name}.pam`), Buffer.concat([Buffer.from(head), Buffer.from(rgba)]))
}
