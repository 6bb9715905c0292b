"""Wording of the fault suite: fifteen invented offices with one rule each, eight in English and seven in Chinese.

Nothing here is shared with the sample logs or with the training corpus of the embedded proxy. `{n}` takes a number.
A task knows two person groups; the first clause is the common case, the second the special one.
"""

# key, doc id, title, system line, (group, clause) x 2, question with {g} and {d}, search words
TASKS = {
    "en": [
        ("zone", "zone-permit", "Street zones", "Municipal counter of Brackwater. State the ruling document.",
         [("residents", "Residents owe {n} dollars every quarter"), ("traders", "Traders owe {n} dollars every quarter")],
         "Street zone charge for {g}, please. It counts for {d}.", "street zone charge"),
        ("dental", "dental-claims", "Dental claims", "Insurance helper of Pellucid Mutual. State the ruling document.",
         [("adults insured alone", "Adults insured alone file within {n} days"), ("dependants", "Dependants file within {n} days")],
         "Dental bill dated {d}. How soon do {g} have to file?", "dental filing time"),
        ("outage", "outage-credit", "Outage credit", "Network desk of Lumenwire. State the ruling document.",
         [("households", "Households are credited {n} percent of the bill"), ("shops", "Shops are credited {n} percent of the bill")],
         "Our line was dead on {d}. Which credit do {g} see?", "credit after outage"),
        ("pool", "pool-hire", "Pool hire", "Booking clerk of the Delmar baths. State the ruling document.",
         [("schools", "Schools are charged {n} dollars an hour"), ("clubs", "Clubs are charged {n} dollars an hour")],
         "Hiring the pool on {d}: what are {g} charged?", "pool hire charge"),
        ("pass", "pass-refund", "Pass refunds", "Ticket office of the Ombra museum. State the ruling document.",
         [("yearly pass holders", "Yearly pass holders see {n} percent again"), ("day pass holders", "Day pass holders see {n} percent again")],
         "Handing a pass back on {d}; what share do {g} see again?", "pass refund share"),
        ("waste", "bulky-waste", "Bulky waste", "Collection service of Norrby. State the ruling document.",
         [("homes", "Homes set out {n} items unpaid"), ("cafes", "Cafes set out {n} items unpaid")],
         "Collection is on {d}. How many items may {g} set out unpaid?", "bulky items unpaid"),
        ("grant", "field-grant", "Field grants", "Grants office of Tolland College. State the ruling document.",
         [("doctoral students", "Doctoral students draw {n} dollars"), ("visiting scholars", "Visiting scholars draw {n} dollars")],
         "Field work starts {d}. What sum do {g} draw?", "field grant sum"),
        ("hire", "late-machine", "Late machines", "Machine hire of Strand and Co. State the ruling document.",
         [("private hirers", "Private hirers are fined {n} dollars daily"), ("builders", "Builders are fined {n} dollars daily")],
         "The digger came back late on {d}. Which fine meets {g}?", "late machine fine")],
    "zh": [
        ("yibao", "门诊医保", "门诊医保", "你在清源社保厅值守,写明依据。",
         [("在职职工", "在职职工报销百分之{n}"), ("退休职工", "退休职工报销百分之{n}")], "{d}看门诊,{g}的报销比例?", "门诊 报销比例"),
        ("kuaidi", "快递理赔", "快递理赔", "你是飞雁快递的理赔员,写明依据。",
         [("个人寄件", "个人寄件最高赔{n}元"), ("商家寄件", "商家寄件最高赔{n}元")], "{d}丢了包裹,{g}最高赔多少?", "丢件 最高赔"),
        ("dianfei", "阶梯电价", "阶梯电价", "你是东岭电力的客服,写明依据。",
         [("居民用户", "居民用户每度{n}分"), ("商铺用户", "商铺用户每度{n}分")], "{g}在{d}的电价每度几分?", "电价 每度"),
        ("xuefei", "学费减免", "学费减免", "你在梧桐学院学生处,写明依据。",
         [("本科生", "本科生减免{n}元"), ("研究生", "研究生减免{n}元")], "{d}缴费,{g}能减免几元?", "减免 学费"),
        ("gongji", "公积金提取", "公积金提取", "你是平川公积金中心窗口,写明依据。",
         [("本市户籍", "本市户籍每月可提{n}元"), ("外地户籍", "外地户籍每月可提{n}元")], "{d}租房提取,{g}每月可提几元?", "租房 提取"),
        ("shuizhi", "水质检测", "水质检测", "你是兰泉检测所的接待,写明依据。",
         [("学校送样", "学校送样每份收{n}元"), ("餐馆送样", "餐馆送样每份收{n}元")], "{d}送水样,{g}每份收几元?", "送样 收费"),
        ("qiuchang", "球场预订", "球场预订", "你管理望江球场,写明依据。",
         [("街道居民", "街道居民须提早{n}天"), ("校外球队", "校外球队须提早{n}天")], "想订{d}的场,{g}须提早几天?", "订场 提早")],
}

# key: (request, right tool, clear text, blurred text, other tool, its text,
#       third tool, its text, the same said otherwise,
#       argument, clear text, blurred text); request takes {code} and {num}
TOOLS = {
    "zone": ("Then send the sticker to plate {code}; my letter number is {num}.", "qx7", "Sends a sticker for a plate.", "Deals with stuff.",
             "qx2", "Answers a letter by its number and sends it.", "qx5", "Shows the map of a quarter.", "Displays one quarter on a map.",
             "ref", "plate, not the letter number", "number"),
    "dental": ("Good, now enter bill {code} for member {num}.", "dn4", "Enters a dental bill.", "Does an operation.",
               "dn9", "Looks up a member and the member's bills, now.", "dn1", "Lists clinics close to a town.", "Names the clinics around a town.",
               "item", "code printed on the bill, not the member", "number"),
    "outage": ("Fine. Please open fault case {code}, meter {num}.", "lw3", "Opens a fault case.", "General purpose.",
               "lw8", "Reads the meter of a line, please name it.", "lw6", "Sends a technician's telephone list.", "Mails the telephone list of technicians.",
               "key", "case code, not the meter", "number"),
    "pool": ("Reserve lane {code} then, invoice {num}.", "bz1", "Reserves a lane.", "Assorted things.",
             "bz5", "Prints the invoice of a booking then.", "bz9", "Tells the water temperature in degrees.", "Reports how warm the water is.",
             "what", "lane code, not the invoice", "number"),
    "pass": ("Cancel pass {code} please, receipt {num}.", "om6", "Cancels a pass.", "Miscellaneous.",
             "om2", "Finds a receipt, please give one.", "om8", "Announces guided tours for a week.", "Tells which tours a week has.",
             "id", "pass code, not the receipt", "number"),
    "waste": ("Please order a lorry for yard {code}, customer {num}.", "nb2", "Orders a lorry for a yard.", "Handles requests.",
              "nb7", "Finds a customer and the customer's order.", "nb4", "Gives the sorting guide for glass.", "Explains how glass is sorted.",
              "target", "yard code, not the customer", "number"),
    "grant": ("Now put project {code} forward, staff card {num}.", "tc8", "Puts a project forward.", "Various jobs.",
              "tc3", "Checks a staff card right now.", "tc5", "Names the libraries open late.", "Says which libraries close late.",
              "subject", "project code, not the staff card", "number"),
    "hire": ("Extend machine {code} until Friday, cheque {num}.", "st5", "Extends the hire of a machine.", "Whatever is needed.",
             "st1", "Books a cheque, until it clears.", "st9", "Quotes the weight limit of a bridge.", "Names how heavy a bridge can bear.",
             "object", "machine code, not the cheque", "number"),
    "yibao": ("那请登记票据{code},卡号{num}。", "sb3", "登记一张票据。", "处理事情。", "sb8", "按卡号查询,那张卡的状态。", "sb5", "列出附近的定点药店。", "给出近处药店名录。",
              "项", "票据编码,不是卡号", "号码"),
    "kuaidi": ("好,替我立案{code},电话{num}。", "fy2", "建立理赔案件。", "综合服务。", "fy6", "按电话替客户找人。", "fy9", "显示各地网点营业时间。", "列出网点几点开门。",
               "值", "案件编码,不是电话", "号码"),
    "dianfei": ("请给电表{code}报修,户号{num}。", "dl7", "给电表报修。", "万能入口。", "dl1", "请按户号打印账单。", "dl4", "说明节电的小窍门。", "讲几条省电办法。",
                "对象", "电表编码,不是户号", "号码"),
    "xuefei": ("那提交申请表{code},学号{num}。", "wt4", "提交申请表。", "做些事。", "wt9", "按学号查成绩,那一年的。", "wt2", "公布食堂一周菜单。", "给出食堂本周菜品。",
               "参数", "申请表编码,不是学号", "号码"),
    "gongji": ("请预约窗口{code},取号{num}。", "pc6", "预约一个窗口。", "日常办理。", "pc3", "请凭取号查看排队。", "pc8", "介绍贷款的还法。", "说说怎样还贷款。",
               "目标", "窗口编码,不是取号", "号码"),
    "shuizhi": ("收下样瓶{code}吧,单号{num}。", "lq5", "收下样瓶。", "一般事项。", "lq1", "按单号出报告吧。", "lq7", "讲解采样的做法。", "说明怎样采样。",
                "内容", "样瓶编码,不是单号", "号码"),
    "qiuchang": ("锁定场地{code},会员码{num}。", "wj8", "锁定一块场地。", "随便用。", "wj2", "按会员码查场地记录。", "wj4", "播报明日的天气。", "说出明日天气如何。",
                 "标识", "场地编码,不是会员码", "号码"),
}

# Layout of the documents: head, with an end, without an end, tail sentences
LAYOUT = {
    "en": ("{id} {ver} // {title} //", "Counts from {f} through {u}.", "Counts from {f} onward.",
           ["Clerks file it by colour.", "A stamped sheet exists.", "Hearings take place twice yearly.", "It replaces nothing else."]),
    "zh": ("{id} {ver} // {title} //", "计自{f}止于{u}。", "计自{f}以后。", ["按颜色归档。", "有盖章页。", "每年听证两次。", "不涉及别项。"]),
}

ANSWER = {"en": ["{c} under {id} {ver}.", "{id} {ver} applies: {c}."], "zh": ["{c},依据{id} {ver}。", "适用{id} {ver}:{c}。"]}
OTHERWISE = {"en": "Ruling document {id} {ver}, so {c}.", "zh": "依据文件{id} {ver},所以{c}。"}
SEARCH = {"en": ("rulings", "Searches ruling documents.", "terms", "search terms"), "zh": ("rulings", "检索依据文件。", "terms", "检索词")}
CUT = {"en": " (shortened by the reader)", "zh": "(阅读器已截短)"}
FAILED = {
    "en": [("timeout", "No reply within 20 seconds."), ("error", "Server fault 500 in rulings."), ("denied", "Access refused: role lacks rights.")],
    "zh": [("timeout", "20秒内无回音。"), ("error", "rulings 服务故障 500。"), ("denied", "拒绝访问:角色无权。")]}
ORACLE = {"en": "Hint for the clerk: the correct reply is: {a}", "zh": "给经办人的提示:正确的回复是:{a}"}
ENTER = {  # for the controls with two faults: request, clear text, text of the tool that misleads
    "en": ("{q} Enter the outcome into a tool; no reply.", "Enters the outcome of a question about {title}.", "Prints an outcome, no reply is sent."),
    "zh": ("{q}把结果录入工具,不回复。", "录入关于{title}的结果。", "打印结果,不回复任何人。")}
DONE = {"en": "registered", "zh": "已受理"}
BOTH = {"en": "Two things at once. {a} And also: {b}", "zh": "一次问两件。{a}还有:{b}"}

# Twelve harmless wrappers that stand at the end of the prompt.
WRAPPERS = {
    "en": ["", "Reply when ready.", "Keep it plain.", "No greeting needed.", "This is one of several requests today.", "The line may be slow.",
           "Reply in the language of the request.", "Thanks in advance.", "You may begin.", "A colleague will file the reply.",
           "Nothing else is open.", "End of request."],
    "zh": ["", "准备好即可回复。", "简单说明。", "不必寒暄。", "今日有多项来件。", "线路可能较慢。", "用来件语言回复。", "先行谢过。", "可以开始。", "同事会归档回复。",
           "没有其他来件。", "来件完。"],
}

# Unrelated documents are put together from these.
PLACEBO = {
    "en": (["Harp strings", "Lighthouse paint", "Ballot boxes", "Fog horns", "Library moss", "Tram bells", "Rope bridges", "Stone lions", "Sledge runs",
            "Cloud charts", "Velvet curtains", "Chimney brushes", "Fountain pumps", "Apple ladders", "Signal lamps", "Paper lanterns", "Marble stairs",
            "Weather flags", "Copper kettles", "Harvest drums"],
           ["keepers", "guards", "carvers", "ringers", "stokers", "binders", "sorters", "polishers", "gilders", "menders"],
           ["oil {n} hinges monthly", "count {n} pieces weekly", "carry {n} kilograms at once", "store {n} spare parts", "inspect {n} corners yearly",
            "paint {n} panels each spring", "lend {n} brushes for a week", "keep {n} ropes dry"],
           ["Ladders stay indoors.", "A ledger lists repairs.", "Gloves hang beside doors.", "Rust is brushed away.", "Spare parts lie upstairs.", "Noise is noted."]),
    "zh": (["竖琴弦", "灯塔漆", "投票箱", "雾笛", "藏书苔", "电车铃", "吊桥绳", "石狮子", "雪橇道", "云图", "丝绒幕", "烟囱刷", "喷泉泵", "苹果梯", "信号灯", "纸灯笼", "石台阶", "气象旗", "铜壶", "丰收鼓"],
           ["看守人", "雕工", "敲钟人", "司炉", "装订工", "分拣工", "磨光工", "描金匠", "修补匠", "守卫"],
           ["每月给{n}个铰链上油", "每周点{n}件", "一次搬{n}公斤", "存{n}个备件", "每年查{n}处墙角", "春天漆{n}块板", "借出{n}把刷子", "晾{n}根绳"],
           ["梯子放在屋里。", "修理记在账上。", "手套挂在门边。", "锈要刷净。", "备件在楼上。", "噪声要记录。"]),
}
