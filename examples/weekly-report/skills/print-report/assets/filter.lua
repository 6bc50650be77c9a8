-- Makes a report out of plain Markdown: its first heading becomes the title, the line below it the subtitle, the next
-- paragraph the lead, the first table the key figures, and a heading after a rule begins a page. So the Markdown needs no
-- marks that only pandoc reads.

local seen = { table = false }

-- Text columns are twice as wide as columns of figures; without this every table would be as narrow as its words.
local function widths(tbl)
  local whole, parts = 0, {}
  for i, spec in ipairs(tbl.colspecs) do
    parts[i] = spec[1] == pandoc.AlignRight and 1 or 1.6
    whole = whole + parts[i]
  end
  for i, spec in ipairs(tbl.colspecs) do
    tbl.colspecs[i] = { spec[1], parts[i] / whole }
  end
end

local function key_figures(tbl)
  local bodies = tbl.bodies    -- a copy: what is changed in it has to be put back
  for i, row in ipairs(bodies[1].body) do
    for _, cell in ipairs(row.cells) do
      local style = i == 1 and "Key Figure" or "Key Change"
      cell.contents = { pandoc.Div({ pandoc.Para(cell.contents[1].content) }, { ["custom-style"] = style }) }
    end
  end
  tbl.bodies = bodies
end

function Table(tbl)
  widths(tbl)
  if not seen.table then
    key_figures(tbl)
    seen.table = true
  end
  return tbl
end

-- A heading after a rule begins a page, without the space that it keeps from what stands above it elsewhere.
local function paged(blocks)
  local out = pandoc.List()
  for i, block in ipairs(blocks) do
    local above = blocks[i - 1]
    if block.t == "Header" and above and above.t == "HorizontalRule" then
      out:insert(pandoc.Div({ pandoc.Para(block.content) }, { ["custom-style"] = "Page Heading" }))
    elseif block.t ~= "HorizontalRule" then
      out:insert(block)
    end
  end
  return out
end

function Pandoc(doc)
  local blocks = doc.blocks
  if blocks[1] and blocks[1].t == "Header" and blocks[1].level == 1 then
    doc.meta.title = pandoc.MetaInlines(blocks[1].content)
    blocks:remove(1)
    if blocks[1] and blocks[1].t == "Para" then
      doc.meta.subtitle = pandoc.MetaInlines(blocks[1].content)
      doc.meta.subject = pandoc.MetaString(pandoc.utils.stringify(blocks[1]))
      blocks:remove(1)
    end
    if blocks[1] and blocks[1].t == "Para" then
      blocks[1] = pandoc.Div({ blocks[1] }, { ["custom-style"] = "Lead" })
    end
  end
  doc.blocks = paged(blocks)
  return doc
end
